import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bootstrapAccount } from '../../src/resources/identity/accounts/bootstrap-account.ts';
import type { Role } from '../../src/resources/identity/members/member.ts';
import { addUser, admin, type SignInCredentials, signIn } from '../support/sign-in.ts';
import { databaseText, runSql } from '../support/sql.ts';
import type { ApiReply, TestApi } from '../support/start-api.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { type FeedServer, type Listener, listen, openFeed } from './event-feed-fixture.ts';

const password = 'nine boats leave at dawn';
const day = 24 * 3_600_000;

let running: FeedServer;
let server: TestApi;
let owner: string;
let nowMs = Date.now();
let people = 0;
beforeAll(async () => {
  // Checks of the feed come from changes of access only.
  running = await openFeed(
    { times: { recheckIntervalMs: 3_600_000 } },
    { clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() } },
  );
  server = running.server;
  owner = await signIn(server);
});
afterAll(() => running.stop());

/** Calls as the dashboard does. */
function as(cookie: string | null, method: string, path: string, body?: unknown): Promise<ApiReply> {
  const headers: Record<string, string> =
    cookie === null ? {} : { cookie, 'millrace-environment': 'sandbox' };
  return server.call(method, path, { key: null, headers, ...(body === undefined ? {} : { body }) });
}

const newEmail = () => {
  people += 1;
  return `person-${people}@example.org`;
};
const codeOf = ({ json, status }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const cookieOf = ({ headers }: ApiReply) => headers.get('set-cookie')?.split(';')[0] ?? '';

async function invite(role: Role, email = newEmail(), by = owner) {
  const { status, json } = await as(by, 'POST', '/account/invitations', { email, role });
  expect(status).toBe(201);
  return {
    email,
    invitationId: json.invitationId as string,
    path: `/invitations/${json.url.split('/').at(-1)}`,
  };
}

/** Opens the event feed as the dashboard does. */
function listenAs(cookie: string): Promise<Listener> {
  const protocols = ['millrace.events.v1', 'environment.sandbox'];
  const headers = { cookie, origin: server.baseUrl.replace('127.0.0.1', 'localhost') };
  return listen(running, { headers, protocols });
}

interface Joined {
  readonly email: string;
  readonly cookie: string;
  readonly userId: string;
}

async function join(role: Role): Promise<Joined> {
  const { email, path } = await invite(role);
  const answer = await as(null, 'POST', `${path}/accept`, { password });
  expect([answer.status, answer.json.role]).toEqual([200, role]);
  const { data } = (await as(owner, 'GET', '/account/members?pageSize=100')).json;
  const { userId } = data.find((member: { email: string }) => member.email === email);
  return { email, userId, cookie: cookieOf(answer) };
}

/** An owner of another account. */
async function addStranger(): Promise<{ who: SignInCredentials; accountId: string }> {
  const { accountId } = await server.addAccount();
  const who = { email: newEmail(), password };
  await addUser(server, accountId, who);
  return { who, accountId };
}

describe('an invitation', () => {
  it('lets somebody new set a password and join with the role', async () => {
    const email = newEmail();
    const answer = await as(owner, 'POST', '/account/invitations', { email, role: 'viewer' });
    expect(answer.json).toEqual({
      invitationId: expect.stringMatching(/^in/),
      email,
      role: 'viewer',
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/dashboard\/invitations\/[0-9A-Za-z]{43}$/),
    });
    const token = answer.json.url.split('/').at(-1);
    expect((await as(owner, 'GET', '/account/invitations')).text).not.toContain(token);
    expect(await databaseText(server.database)).not.toContain(token);
    const shown = await as(null, 'GET', `/invitations/${token}`);
    expect(shown.json).toMatchObject({ email, role: 'viewer', ownerEmail: admin.email, hasUser: false });

    const accept = (body: unknown) => as(null, 'POST', `/invitations/${token}/accept`, body);
    expect((await accept({})).json.name).toBe('password');
    expect((await accept({ password: 'short' })).json.name).toBe('password');
    const joined = await accept({ password });
    expect(joined.json).toMatchObject({ email, role: 'viewer', scopes: ['read'] });
    expect((await as(cookieOf(joined), 'GET', '/videos')).status).toBe(200);
    expect((await accept({ password })).status).toBe(404);
    expect((await as(await signIn(server, { email, password }), 'GET', '/auth/session')).json.role).toBe(
      'viewer',
    );
  });

  it('works once, also for requests that come at once', async () => {
    const { path } = await invite('editor');
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => as(null, 'POST', `${path}/accept`, { password })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
  });

  it('must be accepted by a user with the same address, who then switches between accounts', async () => {
    const { who, accountId } = await addStranger();
    const { path } = await invite('editor', who.email.toUpperCase());
    expect((await as(null, 'GET', path)).json.hasUser).toBe(true);
    const other = await join('viewer');
    for (const cookie of [null, other.cookie]) {
      expect(codeOf(await as(cookie, 'POST', `${path}/accept`, { password }))).toEqual([
        403,
        'invitation-of-other-user',
      ]);
    }
    const cookie = await signIn(server, who);
    const joined = await as(cookie, 'POST', `${path}/accept`, {});
    expect(joined.json.accounts.map(({ role }: { role: Role }) => role).sort()).toEqual(['editor', 'owner']);
    expect([joined.json.role, cookieOf(joined)]).toEqual(['editor', cookie]);
    expect((await as(cookie, 'GET', '/account')).json.accountId).not.toBe(accountId);

    const switched = await as(cookie, 'PATCH', '/auth/session', { accountId });
    expect(switched.json).toMatchObject({ account: { accountId }, role: 'owner' });
    expect((await as(cookie, 'GET', '/account')).json.accountId).toBe(accountId);
    const foreign = (await server.addAccount()).accountId;
    const refused = await as(cookie, 'PATCH', '/auth/session', { accountId: foreign });
    expect([refused.status, refused.json.name]).toEqual([400, 'accountId']);
  });

  it('ends when it is revoked, replaced, or 7 days old', async () => {
    const statusOf = async (path: string) => (await as(null, 'GET', path)).status;
    const revoked = await invite('viewer');
    expect(await statusOf(revoked.path)).toBe(200);
    await as(owner, 'DELETE', `/account/invitations/${revoked.invitationId}`);
    expect(await statusOf(revoked.path)).toBe(404);
    const first = await invite('viewer');
    const second = await invite('editor', first.email);
    expect([await statusOf(first.path), await statusOf(second.path)]).toEqual([404, 200]);
    nowMs += 7 * day;
    expect(await statusOf(second.path)).toBe(404);
    expect((await as(owner, 'GET', '/account/invitations')).json.data).toEqual([]);
    expect((await as(null, 'POST', `${second.path}/accept`, { password })).status).toBe(404);
  });

  it('is refused for members and for what is no email address', async () => {
    const body = { email: admin.email, role: 'viewer' };
    expect(codeOf(await as(owner, 'POST', '/account/invitations', body))).toEqual([409, 'already-member']);
    const { json } = await as(owner, 'POST', '/account/invitations', { email: 'nobody', role: 'viewer' });
    expect(json.name).toBe('email');
  });
});

describe('a role', () => {
  it('changes at once, and an event feed ends with the role and with the membership', async () => {
    const { cookie, userId } = await join('viewer');
    const create = () => as(cookie, 'POST', '/videos', { title: 'A video' });
    const path = `/account/members/${userId}`;
    expect((await create()).status).toBe(403);
    const asViewer = await listenAs(cookie);
    expect((await as(owner, 'PATCH', path, { role: 'editor' })).json.role).toBe('editor');
    expect(await asViewer.closed).toBe(4401);
    expect((await create()).status).toBe(201);
    const asEditor = await listenAs(cookie);
    expect((await as(owner, 'DELETE', path)).status).toBe(204);
    expect(await asEditor.closed).toBe(4401);
    expect((await as(cookie, 'GET', '/videos')).status).toBe(401);
  });
});

describe('a member', () => {
  it('may leave, and is forgotten with the last account', async () => {
    const { cookie, userId, email } = await join('viewer');
    const { userId: other } = await join('viewer');
    expect(codeOf(await as(cookie, 'DELETE', `/account/members/${other}`))).toEqual([
      403,
      'authorization-insufficient-scope',
    ]);
    expect((await as(cookie, 'DELETE', `/account/members/${userId}`)).status).toBe(204);
    expect((await as(null, 'POST', '/auth/session', { email, password })).status).toBe(401);
    // The address can be invited again.
    const { path } = await invite('viewer', email);
    expect((await as(null, 'GET', path)).json.hasUser).toBe(false);
  });

  it('keeps other accounts, and sessions that act for them', async () => {
    const { who, accountId } = await addStranger();
    const { path } = await invite('viewer', who.email);
    const [here, there] = [await signIn(server, who), await signIn(server, who)];
    const { json } = await as(here, 'POST', `${path}/accept`, {});
    const { data } = (await as(owner, 'GET', '/account/members?pageSize=100')).json;
    const { userId } = data.find((member: { email: string }) => member.email === who.email);
    expect(json.account.accountId).not.toBe(accountId);
    await as(owner, 'DELETE', `/account/members/${userId}`);
    expect((await as(here, 'GET', '/auth/session')).status).toBe(401);
    const left = (await as(there, 'GET', '/auth/session')).json;
    expect([left.account.accountId, left.accounts.length]).toEqual([accountId, 1]);
  });

  it('ends sessions in all accounts by turning on two-factor sign-in', async () => {
    const { who } = await addStranger();
    const { path } = await invite('viewer', who.email);
    const [here, there] = [await signIn(server, who), await signIn(server, who)];
    expect((await as(here, 'POST', `${path}/accept`, {})).status).toBe(200);
    const listener = await listenAs(there);
    await enableTwoFactor(server, here, { password, atMs: nowMs });
    expect(await listener.closed).toBe(4401);
  });

  it('is an owner as long as there is no other one', async () => {
    const { who } = await addStranger();
    const cookie = await signIn(server, who);
    const { data } = (await as(cookie, 'GET', '/account/members')).json;
    const path = `/account/members/${data[0].userId}`;
    expect(data).toEqual([expect.objectContaining({ email: who.email, role: 'owner', isYou: true })]);
    expect(codeOf(await as(cookie, 'PATCH', path, { role: 'viewer' }))).toEqual([409, 'last-owner']);
    expect(codeOf(await as(cookie, 'DELETE', path))).toEqual([409, 'last-owner']);
    const second = await invite('owner', newEmail(), cookie);
    const joined = await as(null, 'POST', `${second.path}/accept`, { password });
    const both = (await as(cookie, 'GET', '/account/members')).json.data.map(
      (member: { userId: string }) => `/account/members/${member.userId}`,
    );
    // Both owners demote each other at once: one of them stays an owner.
    const answers = await Promise.all([
      as(cookie, 'PATCH', both[0], { role: 'viewer' }),
      as(cookieOf(joined), 'PATCH', both[1], { role: 'viewer' }),
    ]);
    // The other one is no owner any more, or the last one.
    const [done, refused] = answers.map(({ status }) => status).sort();
    expect([done, [403, 409]]).toEqual([200, expect.arrayContaining([refused])]);
  });
});

it('a user of a version before roles is an owner once a server has started', async () => {
  const { who, accountId } = await addStranger();
  const removed = await join('viewer');
  await as(owner, 'DELETE', `/account/members/${removed.userId}`);
  await runSql(server.database, 'DELETE FROM members WHERE account_id = ?', accountId);
  const signInAs = ({ email }: { email: string }) => as(null, 'POST', '/auth/session', { email, password });
  expect((await signInAs(who)).status).toBe(401);
  await bootstrapAccount(server.database, { isUpgraded: true, adminEmail: admin.email });
  expect((await signInAs(who)).json).toMatchObject({ account: { accountId }, role: 'owner' });
  expect((await signInAs(removed)).status).toBe(401);
});

it('an account has a name that owners choose', async () => {
  const viewer = await join('viewer');
  expect((await as(viewer.cookie, 'PATCH', '/account', { name: 'Ours' })).status).toBe(403);
  expect((await as(owner, 'PATCH', '/account', { name: 'Harbour TV' })).json.name).toBe('Harbour TV');
  expect((await as(viewer.cookie, 'GET', '/account')).json.name).toBe('Harbour TV');
  const { path } = await invite('viewer');
  expect((await as(null, 'GET', path)).json.accountName).toBe('Harbour TV');
  expect((await as(owner, 'PATCH', '/account', { name: null })).json).not.toHaveProperty('name');
});
