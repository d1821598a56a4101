import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountAdmin } from '../../src/resources/identity/accounts/account-admin.ts';
import type { EmailAddress } from '../../src/shared/email-address.ts';
import { type MailServer, openMailServer } from '../support/mail-server.ts';
import { proveAtProvider, TestOidcProvider } from '../support/oidc-provider.ts';
import { addPasskey, newPasskey, passkeySignIn } from '../support/passkeys.ts';
import { addUser, emailOf, type SignInCredentials, signIn } from '../support/sign-in.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { type ApiReply, startApi, type TestApi } from '../support/start-api.ts';
import { codeOf, enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const password = 'nine boats leave at dawn';
const newPassword = 'nine boats come home at dusk';
const minute = 60_000;

let provider: TestOidcProvider;
let mailServer: MailServer;
let server: TestApi;
/** The same without a mail server. */
let mute: TestApi;
let nowMs = Date.now();
let people = 0;

const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

beforeAll(async () => {
  provider = await TestOidcProvider.start();
  mailServer = await openMailServer();
  const oidc = { ...provider.settings, createAccounts: true };
  const smtp = { host: '127.0.0.1', port: mailServer.port, isSecure: false, from: 'millrace@example.org' };
  server = await startApi({ clock, oidc, smtp });
  mute = await startApi({ clock, oidc });
});
afterAll(async () => {
  await server?.stop();
  await mute?.stop();
  await mailServer?.stop();
  await provider?.stop();
});
beforeEach(() => {
  // The limits of other tests are over.
  nowMs += 24 * 60 * minute;
  mailServer.mails.length = 0;
});

const as = (cookie: string | null, method: string, path: string, body?: object, to = server) =>
  to.call(method, path, {
    key: null,
    headers: cookie === null ? {} : { cookie, 'millrace-environment': 'sandbox' },
    body,
  });
const cookieOf = ({ headers }: ApiReply) => headers.get('set-cookie')!.split(';')[0]!;
const told = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const newEmail = () => {
  people += 1;
  return emailOf(`person-${people}@corp.example`);
};
/** Ids of the accounts that the user of a session is a member of. */
const accountsOf = async (cookie: string) =>
  (await as(cookie, 'GET', '/auth/session')).json.accounts.map((one: { accountId: string }) => one.accountId);
const tokenOf = (url: string) => url.split('/').at(-1)!;

/** The owner of a new account. */
async function addOwner(to: TestApi): Promise<{ who: SignInCredentials; accountId: string; cookie: string }> {
  const { accountId } = await to.addAccount();
  const who = { email: newEmail(), password };
  await addUser(to, accountId, who);
  return { who, accountId, cookie: await signIn(to, who) };
}

async function invite(cookie: string, email: string, to: TestApi, role = 'owner'): Promise<string> {
  const { status, json, text } = await as(cookie, 'POST', '/account/invitations', { email, role }, to);
  if (status !== 201) throw new Error(text);
  return tokenOf(json.url);
}

const accept = (token: string, to: TestApi, body: object = {}, cookie: string | null = null) =>
  as(cookie, 'POST', `/invitations/${token}/accept`, body, to);

async function mailTo(email: string, subject: string): Promise<string> {
  return waitUntil(() => {
    const found = mailServer.mails.filter(({ to }) => to.includes(email)).map(({ content }) => content);
    return found.findLast(content => content.includes(`Subject: ${subject}`));
  });
}
const mailedToken = async (email: string) =>
  /\/dashboard\/invitations\/(\w{43})\s/.exec(await mailTo(email, 'Invitation'))![1]!;

/** Everything that somebody who owns another account can set up for an address of somebody else. */
async function prepare(victim: EmailAddress, to: TestApi) {
  const attacker = await addOwner(to);
  const token = await invite(attacker.cookie, victim, to);
  if (to === server) {
    await mailedToken(victim);
    mailServer.mails.length = 0;
  }
  const joined = await accept(token, to, { password });
  expect([joined.status, joined.json.emailVerified]).toEqual([200, false]);
  const { cookie, secret, recoveryCodes } = await enableTwoFactor(to, cookieOf(joined), {
    password,
    atMs: nowMs,
  });
  nowMs += minute;
  const proof = { password, code: codeOf(secret, nowMs) };
  const { authenticator } = await addPasskey(to, cookie, proof);
  nowMs += minute;
  const pending = await newPasskey(to, cookie, { password, code: codeOf(secret, nowMs) });
  const key = (await as(cookie, 'POST', '/account/api-keys', {}, to)).json.sandbox.apiKey as string;
  return { attacker, cookie, authenticator, pending, key, recoveryCodes };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function expectVoid(victim: EmailAddress, prepared: Prepared, to: TestApi): Promise<void> {
  const { cookie, authenticator, pending, key, recoveryCodes } = prepared;
  const passkey = await passkeySignIn(to, authenticator);
  expect(told(await as(null, 'POST', '/auth/passkey', passkey, to))).toEqual([
    401,
    'authentication-invalid-passkey',
  ]);
  expect((await as(cookie, 'GET', '/auth/session', undefined, to)).status).toBe(401);
  expect((await as(cookie, 'POST', '/account/passkeys', pending, to)).status).toBe(401);
  expect((await to.call('GET', '/account', { key })).status).toBe(401);
  for (const code of [undefined, recoveryCodes[0]]) {
    const body = { email: victim, password, code };
    expect(told(await as(null, 'POST', '/auth/session', body, to))).toEqual([
      401,
      'authentication-wrong-password',
    ]);
  }
  const left = 'SELECT id FROM users WHERE email = ? AND id IN (SELECT user_id FROM recovery_codes)';
  expect(await rowsOf(to.database, left, victim)).toEqual([]);
}

const everything = {
  passkeys: 1,
  sessions: 1,
  apiKeys: 1,
  twoFactor: true,
  signingKeys: 0,
  uploadTokens: 0,
  streamKeys: 0,
  webhooks: 0,
  hooks: 0,
  destinations: 0,
  invitations: 0,
  members: 0,
  unknownApiKeys: 0,
};
/** Keys of the account that the person stays in, which the operator created. */
const unknownApiKeys = 2;

describe('a user whom somebody else set up for an address', () => {
  it('loses everything when the mailed link of an invitation is accepted', async () => {
    const victim = newEmail();
    const prepared = await prepare(victim, server);
    const employer = await addOwner(server);
    const shown = await invite(employer.cookie, victim, server);
    const mailed = await mailedToken(victim);
    expect(mailed).not.toBe(shown);
    expect((await as(null, 'GET', `/invitations/${mailed}`)).json).toMatchObject({
      hasUser: false,
      verifies: true,
    });
    expect((await as(null, 'GET', `/invitations/${shown}`)).json).toMatchObject({
      hasUser: true,
      verifies: false,
    });
    // The attacker, and whoever else has seen the link of the employer.
    expect(told(await accept(shown, server, { password }))).toEqual([403, 'invitation-of-other-user']);
    expect(told(await accept(shown, server, {}, prepared.cookie))).toEqual([403, 'email-unverified']);

    const joined = await accept(mailed, server, { password: newPassword });
    expect(joined.json).toMatchObject({
      email: victim,
      emailVerified: true,
      role: 'owner',
      removedCredentials: everything,
    });
    expect(joined.json.account.accountId).toBe(employer.accountId);
    await expectVoid(victim, prepared, server);
    const mail = await mailTo(victim, 'Your email address for Millrace was verified');
    expect(mail.replaceAll('\r\n', ' ')).toContain('1 passkey, 1 session, 1 API key and two-factor sign-in');
    const session = (await as(cookieOf(joined), 'GET', '/auth/session')).json;
    expect([session.emailVerified, session.removedCredentials]).toEqual([true, undefined]);
    expect((await accept(shown, server, {}, cookieOf(joined))).status).toBe(404);
    expect(await accountsOf(cookieOf(joined))).toEqual([employer.accountId]);
  });

  it('loses everything when the password is reset by mail, and keeps nothing', async () => {
    const victim = newEmail();
    const prepared = await prepare(victim, server);
    await as(null, 'POST', '/auth/password-resets', { email: victim });
    const token = /\/password-reset\/(\w{43})\s/.exec(await mailTo(victim, 'Set a new password'))![1];
    const path = `/auth/password-resets/${token}`;
    const { json } = await as(null, 'GET', path);
    expect(json).toMatchObject({ emailVerified: false, passkeys: [{ name: 'Laptop' }] });
    const kept = {
      keepPasskeys: json.passkeys.map((one: { passkeyId: string }) => one.passkeyId),
      keepSessions: json.sessions.map((one: { sessionId: string }) => one.sessionId),
    };
    const completed = await as(null, 'POST', `${path}/complete`, { password: newPassword, ...kept });
    expect(completed.status).toBe(204);
    await expectVoid(victim, prepared, server);
    await signIn(server, { email: victim, password: newPassword });

    const employer = await addOwner(server);
    const cookie = await signIn(server, { email: victim, password: newPassword });
    const joined = await accept(await invite(employer.cookie, victim, server), server, {}, cookie);
    expect([joined.status, joined.json.account.accountId]).toEqual([200, employer.accountId]);
    await expectVoid(victim, prepared, server);
  });

  it.each([
    ['signs in', false],
    ['accepts an invitation', true],
  ])('loses everything when the person %s with the provider', async (_, isInvited) => {
    const victim = newEmail();
    const prepared = await prepare(victim, server);
    const employer = await addOwner(server);
    const invitationToken = isInvited ? await invite(employer.cookie, victim, server) : undefined;
    const login = `login of ${victim}`;
    const finish = async () => {
      const { cookie, query } = await proveAtProvider(server, login);
      return as(cookie, 'POST', '/auth/oidc', { query, invitationToken });
    };
    for (const person of [
      { email: victim, isVerified: false },
      { email: victim.replace('p', 'ｐ'), isVerified: true },
    ]) {
      provider.people.set(login, person);
      expect((await finish()).status).not.toBe(201);
    }
    expect((await as(prepared.cookie, 'GET', '/auth/session')).status).toBe(200);
    provider.people.set(login, { email: victim.toUpperCase() });
    const signedIn = await finish();
    expect(signedIn.json).toMatchObject({
      email: victim,
      emailVerified: true,
      removedCredentials: isInvited ? everything : { ...everything, unknownApiKeys },
    });
    expect(signedIn.json.account.accountId === employer.accountId).toBe(isInvited);
    await expectVoid(victim, prepared, server);
    await mailTo(victim, 'Your email address for Millrace was verified');
    if (isInvited) expect(await accountsOf(cookieOf(signedIn))).toEqual([employer.accountId]);
    else expect(await accountsOf(cookieOf(signedIn))).toEqual([prepared.attacker.accountId]);
  });

  it('loses everything when the operator confirms the person, without a mail server', async () => {
    const victim = newEmail();
    const prepared = await prepare(victim, mute);
    const employer = await addOwner(mute);
    const token = await invite(employer.cookie, victim, mute);
    const refused = await accept(token, mute, {}, prepared.cookie);
    expect([...told(refused), refused.json.detail]).toEqual([
      ...[403, 'email-unverified'],
      expect.stringContaining(`npm run account -- verify ${victim}`),
    ]);
    const operator = await signIn(mute);
    const list = '/server/unverified-users?pageSize=100';
    expect(told(await as(employer.cookie, 'GET', list, undefined, mute))).toEqual([
      ...[403, 'authorization-operator-only'],
    ]);
    const { data } = (await as(operator, 'GET', list, undefined, mute)).json;
    const { userId } = data.find((one: { email: string }) => one.email === victim);
    const path = `/server/unverified-users/${userId}/verify`;
    expect(told(await as(employer.cookie, 'POST', path, undefined, mute))).toEqual([
      ...[403, 'authorization-operator-only'],
    ]);
    const verified = await as(operator, 'POST', path, undefined, mute);
    expect(verified.json).toEqual({ email: victim, password: expect.any(String) });
    expect((await as(operator, 'POST', path, undefined, mute)).status).toBe(404);
    await expectVoid(victim, prepared, mute);
    const cookie = await signIn(mute, verified.json);
    const joined = await accept(token, mute, {}, cookie);
    expect(joined.json).toMatchObject({ emailVerified: true, account: { accountId: employer.accountId } });
  });

  it('loses everything with a password of the operator', async () => {
    const victim = newEmail();
    const prepared = await prepare(victim, mute);
    const admin = new AccountAdmin(mute.database, clock, mute.api.accounts);
    const set = await admin.setPassword(victim, { keepsPasskeys: true });
    expect(set!.removed).toEqual({ ...everything, unknownApiKeys });
    await expectVoid(victim, prepared, mute);
    expect(await admin.verify(victim)).toBe('verified-before');
    expect(await admin.verify(newEmail())).toBeUndefined();
  });
});

describe('a person without a proved address', () => {
  it('joins one account with the link that an owner shows, without mail, and shows as unverified', async () => {
    const person = newEmail();
    const [first, second] = [await addOwner(mute), await addOwner(mute)];
    const joined = await accept(await invite(first.cookie, person, mute, 'editor'), mute, { password });
    expect(joined.json).toMatchObject({ role: 'editor', emailVerified: false });
    const { data } = (await as(first.cookie, 'GET', '/account/members', undefined, mute)).json;
    const shown = data.map((one: { email: string; emailVerified: boolean }) => [
      one.email,
      one.emailVerified,
    ]);
    expect(Object.fromEntries(shown)).toEqual({ [first.who.email]: true, [person]: false });
    const cookie = await signIn(mute, { email: person, password });
    expect((await as(cookie, 'GET', '/videos', undefined, mute)).status).toBe(200);
    const token = await invite(second.cookie, person, mute);
    expect(told(await accept(token, mute, {}, cookie))).toEqual([403, 'email-unverified']);
    const { accounts } = (await as(cookie, 'GET', '/auth/session', undefined, mute)).json;
    expect(accounts).toHaveLength(1);
  });

  it('is proved by the mailed link at once if there is no user yet', async () => {
    const person = newEmail();
    const owner = await addOwner(server);
    await invite(owner.cookie, person, server);
    const joined = await accept(await mailedToken(person), server, { password });
    expect(joined.json).toMatchObject({ email: person, emailVerified: true });
    expect(joined.json.removedCredentials).toBeUndefined();
  });

  it('is unproved again with another address', async () => {
    const { who } = await addOwner(mute);
    const admin = new AccountAdmin(mute.database, clock, mute.api.accounts);
    const email = newEmail();
    expect(await admin.changeEmail(who.email, email)).toEqual({ userId: expect.any(String) });
    const cookie = await signIn(mute, { email, password });
    expect((await as(cookie, 'GET', '/auth/session', undefined, mute)).json.emailVerified).toBe(false);
  });
});

describe('a reset of the password of a verified user', () => {
  it('lists passkeys and sessions, and ends those that are not kept', async () => {
    const { who, cookie } = await addOwner(server);
    const other = await signIn(server, who);
    const passkeys = [await addPasskey(server, cookie, who), await addPasskey(server, cookie, who)];
    await as(null, 'POST', '/auth/password-resets', { email: who.email });
    const token = /\/password-reset\/(\w{43})\s/.exec(await mailTo(who.email, 'Set a new password'))![1];
    const path = `/auth/password-resets/${token}`;
    const { json } = await as(null, 'GET', path);
    expect([json.emailVerified, json.passkeys.length, json.sessions.length]).toEqual([true, 2, 2]);
    const { sessionId } = (await as(other, 'GET', '/auth/session')).json;
    const body = {
      password: newPassword,
      keepPasskeys: [passkeys[0]!.passkeyId],
      keepSessions: [sessionId],
    };
    expect((await as(null, 'POST', `${path}/complete`, body)).status).toBe(204);
    const statuses = [];
    for (const one of [cookie, other]) statuses.push((await as(one, 'GET', '/auth/session')).status);
    for (const { authenticator } of passkeys) {
      const signedIn = await as(null, 'POST', '/auth/passkey', await passkeySignIn(server, authenticator));
      statuses.push(signedIn.status);
    }
    expect(statuses).toEqual([401, 200, 201, 401]);
    const mail = await mailTo(who.email, 'Your password for Millrace was changed');
    expect(mail.replaceAll('\r\n', ' ')).toContain('1 passkey and 1 session');
  });
});

it('nothing is added by a request whose session ends meanwhile', async () => {
  const { who, cookie } = await addOwner(server);
  const passkey = await newPasskey(server, cookie, who);
  // Simulates a session that ended after it was read.
  const session = await server.api.accounts.sessions.findBySecret(cookie.split('=')[1]!, nowMs);
  await runSql(server.database, 'DELETE FROM sessions WHERE user_id = ?', session!.userId);
  for (const [path, body] of [
    ['/account/passkeys', passkey],
    ['/account/two-factor', { password }],
    ['/account/api-keys', {}],
  ] as const) {
    expect(told(await as(cookie, 'POST', path, body))).toEqual([401, 'authentication-invalid-session']);
  }
});
