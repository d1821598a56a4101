import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { addressReader, secureReader } from '../../src/http/listener/client-address.ts';
import { hashOfSecret } from '../../src/resources/identity/accounts/account.ts';
import { type MailServer, openMailServer } from '../support/mail-server.ts';
import { addPasskey, passkeySignIn } from '../support/passkeys.ts';
import { addUser, admin, emailOf, signIn } from '../support/sign-in.ts';
import { databaseText, runSql, singleValue } from '../support/sql.ts';
import { type ApiReply, startApi, type TestAccount, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { codeOf, enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type FeedServer, listen, openFeed } from './event-feed-fixture.ts';

const newPassword = 'nine boats come home at dusk';
const minute = 60_000;

let dataDir: string;
let running: FeedServer;
let server: TestApi;
let mailServer: MailServer;
let account: TestAccount;
let nowMs = Date.now();
let people = 0;

const smtpOf = ({ port }: Pick<MailServer, 'port'>) => ({
  host: '127.0.0.1',
  port,
  isSecure: false,
  from: 'millrace@example.org',
});

const open = () =>
  openFeed(
    { times: { recheckIntervalMs: 3_600_000 } },
    {
      dataDir,
      smtp: smtpOf(mailServer),
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      peers: { addressOf: addressReader(['127.0.0.1']), isSecure: secureReader([]) },
    },
  );

beforeAll(async () => {
  dataDir = await makeTempDir();
  mailServer = await openMailServer();
  running = await open();
  server = running.server;
  account = await server.addAccount();
});
afterAll(async () => {
  await running?.stop();
  await mailServer?.stop();
  await removeDir(dataDir);
});
beforeEach(() => {
  // The limits of other tests are over.
  nowMs += 61 * minute;
  mailServer.mails.length = 0;
});

async function addPerson() {
  people += 1;
  const person = { email: `person-${people}@example.org`, password: 'nine boats leave at dawn' };
  await addUser(server, account.accountId, person);
  return person;
}

const post = (path: string, body: object, headers: Record<string, string> = {}, to = server) =>
  to.call('POST', path, { key: null, body, headers });
const request = (email: string, headers?: Record<string, string>, to = server) =>
  post('/auth/password-resets', { email }, headers, to);
const get = (path: string, cookie?: string) =>
  server.call('GET', path, { key: null, headers: cookie === undefined ? {} : { cookie } });
const told = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const isSignedIn = async (cookie: string) => (await get('/auth/session', cookie)).status === 200;

/** Waits for that many mails to the person. */
async function mailsTo(email: string, count: number): Promise<string[]> {
  return waitUntil(() => {
    const mails = mailServer.mails.filter(({ to }) => to.includes(email));
    return mails.length >= count ? mails.map(({ content }) => content) : undefined;
  });
}

const tokenIn = (content: string) => /\/dashboard\/password-reset\/(\w{43})\s/.exec(content)![1]!;

/** Asks for a link; returns the path of the API for its token. */
async function requestLink(address: string): Promise<string> {
  const email = address.toLowerCase();
  const before = mailServer.mails.filter(({ to }) => to.includes(email)).length;
  expect((await request(address)).status).toBe(204);
  return `/auth/password-resets/${tokenIn((await mailsTo(email, before + 1))[before]!)}`;
}

const complete = (path: string, password = newPassword) => post(`${path}/complete`, { password });

describe('a link for a new password', () => {
  it('is mailed, sets the password once, and ends all sessions and event feeds', async () => {
    const person = await addPerson();
    const cookie = await signIn(server, person);
    const other = await signIn(server);
    const feed = await listen(running, {
      headers: { cookie, origin: server.baseUrl.replace('127.0.0.1', 'localhost') },
      protocols: ['millrace.events.v1', 'environment.sandbox'],
    });
    const path = await requestLink(person.email.toUpperCase());
    const [mail] = await mailsTo(person.email, 1);
    const url = `http://localhost:${server.listener.httpPort}/dashboard/password-reset/${path.split('/').at(-1)}`;
    expect(mail).toContain(`\n${url}`);
    expect(mail).toContain(`<a href="${url}">`);
    expect(await databaseText(server.database)).not.toContain(path.split('/').at(-1));
    expect((await get(path)).json).toMatchObject({ email: person.email, expiresAt: expect.any(String) });

    const refused: [string, number][] = [
      ['eleven char', 400],
      ['x'.repeat(201), 400],
      [person.email.toUpperCase(), 400],
    ];
    for (const [password, status] of refused) {
      const answer = await complete(path, password);
      expect([answer.status, answer.json.name]).toEqual([status, 'password']);
    }
    const both = await Promise.all([complete(path), complete(path)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 404]);
    expect(both.every(({ headers }) => headers.get('set-cookie') === null)).toBe(true);
    expect([(await get(path)).status, (await complete(path)).status]).toEqual([404, 404]);
    expect(await feed.closed).toBe(4401);
    expect([await isSignedIn(cookie), await isSignedIn(other)]).toEqual([false, true]);
    expect(told(await post('/auth/session', person))).toEqual([401, 'authentication-wrong-password']);
    expect(await isSignedIn(await signIn(server, { ...person, password: newPassword }))).toBe(true);
    const [, confirmation] = await mailsTo(person.email, 2);
    expect(confirmation).toContain('Subject: Your password for Millrace was changed');
    expect(confirmation).not.toContain(newPassword);
  });

  it('leaves two-factor sign-in as it is, and passkeys that are kept', async () => {
    const person = await addPerson();
    const { cookie, secret } = await enableTwoFactor(server, await signIn(server, person), {
      ...person,
      atMs: nowMs,
    });
    nowMs += minute;
    const proof = { password: person.password, code: codeOf(secret, nowMs) };
    const { authenticator, passkeyId } = await addPasskey(server, cookie, proof);
    const path = await requestLink(person.email);
    const kept = await post(`${path}/complete`, { password: newPassword, keepPasskeys: [passkeyId] });
    expect(kept.status).toBe(204);
    const body = { email: person.email, password: newPassword };
    expect(told(await post('/auth/session', body))).toEqual([401, 'authentication-second-factor-required']);
    nowMs += minute;
    const signedIn = await post('/auth/session', { ...body, code: codeOf(secret, nowMs) });
    expect(signedIn.status).toBe(201);
    expect((await post('/auth/passkey', await passkeySignIn(server, authenticator))).status).toBe(201);
  });

  it('is in the audit log of each account of the person', async () => {
    const person = await addPerson();
    const { userId } = (await server.api.accounts.findUser(emailOf(person.email)))!;
    const second = await server.addAccount();
    await server.database.transaction(transaction =>
      server.api.accounts.members.add(
        { accountId: second.accountId, userId, role: 'viewer', createdAtMs: nowMs },
        transaction,
      ),
    );
    await complete(await requestLink(person.email));
    for (const { accountId } of [account, second]) {
      const found = await singleValue<string>(
        server.database,
        `SELECT actor_name FROM audit_entries WHERE account_id = ? AND action = 'password.reset' AND actor_id = ?`,
        ...[accountId, userId],
      );
      expect(found).toBe(person.email);
    }
  });

  it('ends after an hour, with the next link, and with a change of the password', async () => {
    const person = await addPerson();
    const first = await requestLink(person.email);
    const second = await requestLink(person.email);
    expect([(await get(first)).status, (await get(second)).status]).toEqual([404, 200]);
    const cookie = await signIn(server, person);
    const changed = await server.call('PUT', '/account/password', {
      key: null,
      headers: { cookie },
      body: { currentPassword: person.password, newPassword },
    });
    expect([changed.status, (await get(second)).status]).toEqual([204, 404]);
    const third = await requestLink(person.email);
    nowMs += 60 * minute;
    expect([(await get(third)).status, (await complete(third)).status]).toEqual([404, 404]);
  });

  it('still works after a restart, which removes those that ended', async () => {
    const count = () => singleValue(server.database, 'SELECT count(*) FROM password_resets').then(Number);
    await requestLink((await addPerson()).email);
    nowMs += 60 * minute;
    const person = await addPerson();
    const path = await requestLink(person.email);
    expect(await count()).toBeGreaterThan(1);
    await running.stop();
    running = await open();
    server = running.server;
    await waitUntil(async () => (await count()) === 1);
    expect((await complete(path)).status).toBe(204);
    await signIn(server, { ...person, password: newPassword });
  });

  it.each([
    ['lets a person sign in at once who had guessed too often', false, 201],
    ['gives a person with two-factor sign-in no more guesses', true, 429],
  ])('%s', async (_, hasTwoFactor, status) => {
    const person = await addPerson();
    if (hasTwoFactor) {
      await enableTwoFactor(server, await signIn(server, person), { ...person, atMs: nowMs });
    }
    for (let guess = 0; guess < 10; guess += 1) await post('/auth/session', { ...person, password: 'wrong' });
    expect((await post('/auth/session', person)).status).toBe(429);
    await complete(await requestLink(person.email));
    expect((await post('/auth/session', { ...person, password: newPassword })).status).toBe(status);
  });
});

describe('a request for a new password', () => {
  it('has the same answer for addresses that nobody has, and sends them nothing', async () => {
    const person = await addPerson();
    const answers = [await request('nobody@example.org'), await request(person.email)];
    const shown = answers.map(({ status, text, headers }) => [status, text, [...headers.keys()]]);
    expect(shown[0]).toEqual(shown[1]);
    await mailsTo(person.email, 1);
    const links = mailServer.mails.filter(({ content }) => content.includes('/dashboard/password-reset/'));
    expect(links.map(({ to }) => to)).toEqual([[person.email]]);
  });

  it('waits for no mail server, and a server that stops has sent nothing', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const connected = once(silent, 'connection');
    const slow = await startApi({ smtp: smtpOf(silent.address() as AddressInfo) });
    try {
      expect((await request(admin.email, {}, slow)).status).toBe(204);
      await connected;
      expect((await request('nobody@example.org', {}, slow)).status).toBe(204);
    } finally {
      await slow.stop();
    }
  });

  it('is limited for each address, known or not, and for each network', async () => {
    const { email } = await addPerson();
    const from = (network: number) => ({ 'x-forwarded-for': `203.0.113.${network}` });
    for (const address of [email, 'nobody@example.org']) {
      for (let count = 0; count < 5; count += 1) {
        expect((await request(address, from(count))).status).toBe(204);
      }
      const limited = await request(address.toUpperCase(), from(9));
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3600']);
    }
    for (let count = 0; count < 30; count += 1) {
      expect((await request(`nobody-${count}@example.org`, from(20))).status).toBe(204);
    }
    expect((await request('somebody@example.org', from(20))).status).toBe(429);
    expect((await request('somebody@example.org', from(21))).status).toBe(204);
    nowMs += 60 * minute;
    expect((await request(email, from(20))).status).toBe(204);
  });

  it('is refused for pages of other sites', async () => {
    const { email } = await addPerson();
    const site = { 'sec-fetch-site': 'cross-site' };
    expect(told(await request(email, site))).toEqual([403, 'authorization-other-site']);
    const path = await requestLink(email);
    const refused = await post(`${path}/complete`, { password: newPassword }, site);
    expect(told(refused)).toEqual([403, 'authorization-other-site']);
  });

  it('is not available on a server without a mail server, where links that were sent still work', async () => {
    const plain = await startApi();
    try {
      const methods = await plain.call('GET', '/auth/methods', { key: null });
      expect(methods.json).toMatchObject({ passwordReset: false });
      expect((await get('/auth/methods')).json).toMatchObject({ passwordReset: true });
      expect(told(await request(admin.email, {}, plain))).toEqual([409, 'mail-not-configured']);
      const { userId } = (await plain.api.accounts.findUser(emailOf(admin.email)))!;
      await runSql(
        plain.database,
        'INSERT INTO password_resets (user_id, token_hash, expires_at_ms) VALUES (?, ?, ?)',
        ...[userId, hashOfSecret('token'), Date.now() + 60 * minute],
      );
      const done = await post('/auth/password-resets/token/complete', { password: newPassword }, {}, plain);
      expect(done.status).toBe(204);
    } finally {
      await plain.stop();
    }
  });
});
