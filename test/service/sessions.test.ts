import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressReader, secureReader } from '../../src/http/listener/client-address.ts';
import { addUser, admin, emailOf, signIn } from '../support/sign-in.ts';
import { databaseText, runSql, singleValue } from '../support/sql.ts';
import {
  type ApiReply,
  basic,
  productionKey,
  sandboxKey,
  type TestAccount,
  type TestApi,
} from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type FeedServer, listen, openFeed, refusalOf } from './event-feed-fixture.ts';

const day = 24 * 3_600_000;
const studio = { email: 'studio@example.org', password: 'nine boats leave at dawn' };
const inSandbox = { 'millrace-environment': 'sandbox' };
const inProduction = { 'millrace-environment': 'production' };

let dataDir: string;
let running: FeedServer;
let server: TestApi;
let nowMs = Date.now();
/** Keys of the account that `studio` signs in to. */
let studioKeys: TestAccount;

function open(): Promise<FeedServer> {
  return openFeed(
    { times: { recheckIntervalMs: 0 } },
    {
      dataDir,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
      peers: { addressOf: addressReader(['127.0.0.1']), isSecure: secureReader(['127.0.0.1']) },
    },
  );
}

beforeAll(async () => {
  dataDir = await makeTempDir();
  running = await open();
  server = running.server;
  studioKeys = await server.addAccount();
  await addUser(server, studioKeys.accountId, studio);
});
afterAll(async () => {
  await running.stop();
  await removeDir(dataDir);
});
beforeEach(() => {
  // Wrong passwords of other tests are forgotten.
  nowMs += 3_600_000;
});

/** Calls as a browser does that has this cookie. */
function as(
  cookie: string | null,
  method: string,
  path: string,
  more: Record<string, string> = {},
  body?: unknown,
) {
  const headers = { ...(cookie === null ? {} : { cookie }), ...more };
  return server.call(method, path, { key: null, headers, ...(body === undefined ? {} : { body }) });
}
const trySignIn = (body: object, headers: Record<string, string> = {}) =>
  as(null, 'POST', '/auth/session', headers, body);
const slugOf = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const countSessions = () => singleValue<number>(server.database, 'SELECT count(*) FROM sessions');
const notSignedIn = [401, 'authentication-invalid-session'];

describe('signing in', () => {
  it('returns the session and sets its cookie', async () => {
    const answer = await trySignIn({ ...studio, email: 'Studio@Example.ORG' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      sessionId: expect.stringMatching(/^se[0-9A-Za-z]{22}$/),
      email: studio.email,
      emailVerified: true,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      account: {
        accountId: studioKeys.accountId,
        createdAt: expect.any(String),
        upgraded: false,
        isOperator: false,
      },
      role: 'owner',
      scopes: ['read', 'upload', 'live', 'admin'],
      accounts: [{ accountId: studioKeys.accountId, ownerEmail: studio.email, role: 'owner' }],
      environments: ['sandbox'],
      projects: { sandbox: studioKeys.projectIds.sandbox },
      allProjects: [
        {
          projectId: expect.stringMatching(/^pp[0-9A-Za-z]{22}$/),
          name: 'Default',
          createdAt: expect.any(String),
          environmentIds: { sandbox: studioKeys.projectIds.sandbox },
        },
      ],
    });
    expect(Date.parse(answer.json.expiresAt) - Date.parse(answer.json.createdAt)).toBe(30 * day);
    const told = answer.headers.get('set-cookie')!;
    expect(told).toMatch(
      /^millrace_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    const shown = await as(told.split(';')[0]!, 'GET', '/auth/session');
    expect([shown.status, shown.json]).toEqual([200, answer.json]);
    const signedInOf = async (cookie: string | null) =>
      (await as(cookie, 'GET', '/auth/methods')).json.signedIn;
    expect(await signedInOf(told.split(';')[0]!)).toBe(true);
    expect(await signedInOf(null)).toBe(false);
    expect(await signedInOf('millrace_session=of-nobody')).toBe(false);
    // A copy of the database opens nothing.
    expect(await databaseText(server.database)).not.toContain(told.slice(17, 60));
  });

  it('sets a TLS-only cookie over TLS', async () => {
    const answer = await trySignIn(studio, { 'x-forwarded-proto': 'https' });
    expect(answer.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  it('fails with the same text for a wrong address and a wrong password', async () => {
    const wrong = await trySignIn({ ...studio, password: 'ten boats' });
    const unknown = await trySignIn({ ...studio, email: 'nobody@example.org' });
    expect(slugOf(wrong)).toEqual([401, 'authentication-wrong-password']);
    expect([unknown.status, unknown.text]).toEqual([401, wrong.text]);
    expect([wrong, unknown].map(({ headers }) => headers.get('set-cookie'))).toEqual([null, null]);
  });

  it('has to wait after ten wrong passwords in 15 minutes', async () => {
    const tries = Array.from({ length: 12 }, (_, n) =>
      trySignIn({ ...studio, password: 'wrong' }, { 'x-forwarded-for': `192.0.2.${n}` }),
    );
    const statuses = (await Promise.all(tries)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    const elsewhere = { 'x-forwarded-for': '192.0.2.99' };
    const refused = await trySignIn({ ...studio, email: studio.email.toUpperCase() }, elsewhere);
    expect(slugOf(refused)).toEqual([429, 'too-many-requests']);
    expect(refused.headers.get('retry-after')).toBe('900');
    await signIn(server, admin);
    // Strangers keep nobody out whose password was right before.
    await signIn(server, studio);
    nowMs += 15 * 60_000;
    expect((await trySignIn(studio, elsewhere)).status).toBe(201);
  });

  it('to a suspended account fails even with the right password, and its sessions have ended', async () => {
    const cookie = await signIn(server, studio);
    const { accounts } = server.api;
    expect((await as(cookie, 'GET', '/videos', inSandbox)).status).toBe(200);
    await accounts.setStanding(studioKeys.accountId, { isSuspended: true });
    expect(slugOf(await as(cookie, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);
    expect(slugOf(await trySignIn(studio))).toEqual([403, 'authorization-suspended-account']);
    expect((await trySignIn({ ...studio, password: 'wrong' })).status).toBe(401);
    await accounts.setStanding(studioKeys.accountId, { isSuspended: false });
    expect(slugOf(await as(cookie, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);
  });
});

describe('the cookie of a session', () => {
  let cookie: string;
  beforeAll(async () => {
    cookie = await signIn(server);
  });

  it('authenticates API calls in the named environment', async () => {
    const { json: made } = await as(cookie, 'POST', '/videos', inSandbox, { title: 'Harbour' });
    const { json: listed } = await server.call('GET', '/videos', { key: sandboxKey });
    expect(listed.data.map(({ videoId }: { videoId: string }) => videoId)).toEqual([made.videoId]);
    const { json: account } = await as(cookie, 'GET', '/account', inSandbox);
    expect(account).toMatchObject({ email: admin.email, environment: 'sandbox', operator: true });
    for (const headers of [undefined, { 'millrace-environment': 'both' }, { 'millrace-environment': '' }]) {
      expect(slugOf(await as(cookie, 'GET', '/videos', headers))).toEqual([
        ...[401, 'authentication-missing-authorization-header'],
      ]);
    }
    expect(slugOf(await as(null, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);
    expect(slugOf(await as(`${cookie.slice(0, -1)}-`, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);
  });

  it('is ignored beside an Authorization header', async () => {
    const bad = { authorization: basic('no key'), ...inSandbox };
    expect(slugOf(await as(cookie, 'GET', '/videos', bad))).toEqual([401, 'authentication-invalid-api-key']);
    const good = { authorization: basic(studioKeys.sandboxKey), ...inSandbox };
    const { json } = await as(cookie, 'GET', '/account', good);
    expect(json.accountId).toBe(studioKeys.accountId);
    expect(json).not.toHaveProperty('operator');
  });

  it('is ignored in requests of other sites', async () => {
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:1' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: server.baseUrl, 'sec-fetch-site': 'same-site' },
    ];
    const asked: [string, string, Record<string, string>, object?][] = [
      ['GET', '/videos', inSandbox],
      ['DELETE', '/auth/session', {}],
      ['POST', '/account/upgrade', {}],
      ['POST', '/auth/session', {}, admin],
    ];
    for (const headers of foreign) {
      for (const [method, path, more, body] of asked) {
        const answer = await as(cookie, method, path, { ...more, ...headers }, body);
        expect([headers, path, ...slugOf(answer)]).toEqual([headers, path, 403, 'authorization-other-site']);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    }
    const own = { origin: server.baseUrl, 'sec-fetch-site': 'same-origin', ...inSandbox };
    expect((await as(cookie, 'GET', '/videos', own)).status).toBe(200);
  });

  it('cannot be sent by pages of other sites', async () => {
    const { headers } = await as(null, 'OPTIONS', '/videos', {
      origin: 'https://evil.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'millrace-environment',
    });
    expect(headers.get('access-control-allow-headers')).not.toMatch(/millrace/i);
    expect(headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('gives no access to production before the upgrade', async () => {
    const other = await signIn(server, studio);
    for (const one of [cookie, other]) {
      expect(slugOf(await as(one, 'GET', '/videos', inProduction))).toEqual([
        ...[403, 'authorization-account-not-upgraded'],
      ]);
    }
    const refused = await as(other, 'POST', '/account/upgrade');
    expect(slugOf(refused)).toEqual([403, 'authorization-operator-only']);
    expect(refused.json.detail).toContain(`npm run account -- upgrade ${studio.email}`);
    const upgraded = await as(cookie, 'POST', '/account/upgrade');
    expect([upgraded.status, upgraded.json]).toMatchObject([200, { upgraded: true, isOperator: true }]);
    expect((await as(cookie, 'GET', '/videos', inProduction)).status).toBe(200);
    expect((await server.call('GET', '/videos', { key: productionKey })).status).toBe(200);
    const { json } = await as(cookie, 'GET', '/auth/session');
    expect(json).toMatchObject({
      environments: ['sandbox', 'production'],
      projects: { production: expect.stringMatching(/^pr/) },
    });
    expect((await as(other, 'GET', '/videos', inProduction)).status).toBe(403);
  });

  it('of one account shows nothing of another', async () => {
    const { json: own } = await as(cookie, 'POST', '/videos', inSandbox, { title: 'Mine' });
    const other = await signIn(server, studio);
    expect((await as(other, 'GET', `/videos/${own.videoId}`, inSandbox)).status).toBe(404);
    const { json: mine } = await as(cookie, 'GET', '/auth/session');
    expect((await as(other, 'DELETE', `/account/sessions/${mine.sessionId}`)).status).toBe(404);
    expect((await as(cookie, 'GET', '/auth/session')).status).toBe(200);
  });
});

describe('a session', () => {
  const idsOf = async (cookie: string) =>
    (await as(cookie, 'GET', '/account/sessions')).json.data.map(
      (one: { sessionId: string; isCurrent: boolean }) =>
        `${one.sessionId}${one.isCurrent ? ' current' : ''}`,
    );
  const idOf = async (cookie: string) => (await as(cookie, 'GET', '/auth/session')).json.sessionId;

  beforeEach(async () => {
    await runSql(server.database, 'DELETE FROM sessions');
  });

  it('is listed', async () => {
    const first = await signIn(server);
    nowMs += 1_000;
    const userAgent = `Browser ${'x'.repeat(300)}`;
    const answer = await trySignIn(admin, { 'user-agent': userAgent, 'x-forwarded-for': '192.0.2.5' });
    const second = answer.headers.get('set-cookie')!.split(';')[0]!;
    const { json } = await as(first, 'GET', '/account/sessions');
    expect(json.pagination.itemsTotal).toBe(2);
    expect(json.data[0]).toMatchObject({
      sessionId: answer.json.sessionId,
      address: '192.0.2.5',
      isCurrent: false,
      userAgent: userAgent.slice(0, 200),
    });
    expect(json.data[1]).toMatchObject({ isCurrent: true });
    expect((await as(second, 'GET', '/videos', inSandbox)).status).toBe(200);
    expect((await as(first, 'DELETE', `/account/sessions/${answer.json.sessionId}`)).status).toBe(204);
    expect(slugOf(await as(second, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);

    const out = await as(first, 'DELETE', '/auth/session');
    expect([out.status, out.text]).toEqual([204, '']);
    expect(out.headers.get('set-cookie')).toMatch(/^millrace_session=; .*Max-Age=0$/);
    expect(slugOf(await as(first, 'GET', '/auth/session'))).toEqual(notSignedIn);
    expect(await countSessions()).toBe(0);
  });

  it('can end all others', async () => {
    const [first, second, other] = [await signIn(server), await signIn(server), await signIn(server, studio)];
    expect((await as(first, 'DELETE', '/account/sessions')).status).toBe(204);
    expect(slugOf(await as(second, 'GET', '/auth/session'))).toEqual(notSignedIn);
    expect(await idsOf(first)).toEqual([`${await idOf(first)} current`]);
    expect((await as(other, 'GET', '/auth/session')).status).toBe(200);
  });

  it('ends when its browser signs in again', async () => {
    const first = await signIn(server);
    const again = await as(first, 'POST', '/auth/session', {}, admin);
    expect(slugOf(await as(first, 'GET', '/auth/session'))).toEqual(notSignedIn);
    expect((await as(again.headers.get('set-cookie')!.split(';')[0]!, 'GET', '/auth/session')).status).toBe(
      200,
    );
  });

  it('ends 30 days after its last use', async () => {
    const used = await signIn(server);
    const left = await signIn(server);
    nowMs += 30_000;
    const soon = await as(used, 'GET', '/videos', inSandbox);
    expect(soon.headers.get('set-cookie')).toBeNull();
    nowMs += 29 * day;
    const late = await as(used, 'GET', '/videos', inSandbox);
    expect(late.headers.get('set-cookie')).toMatch(new RegExp(`^${used}; .*Max-Age=2592000$`));
    nowMs += day;
    expect(slugOf(await as(left, 'GET', '/videos', inSandbox))).toEqual(notSignedIn);
    expect((await as(used, 'GET', '/videos', inSandbox)).status).toBe(200);
    expect(await idsOf(used)).toHaveLength(1);
  });

  it('ends as the least recently used one beyond a hundred', async () => {
    const first = await signIn(server);
    const { accounts } = server.api;
    const store = accounts.sessions;
    const { userId, accountId } = (await accounts.findUser(emailOf(admin.email)))!;
    const add = (n: number) =>
      server.database.transaction(transaction =>
        store.add(
          {
            userId,
            accountId,
            secret: `s${n}`,
            atMs: nowMs + n,
            expiresAtMs: nowMs + day,
            address: '',
            userAgent: undefined,
          },
          transaction,
        ),
      );
    for (let n = 1; n < 100; n += 1) await add(n);
    expect((await as(first, 'GET', '/account/sessions?pageSize=100')).json.data).toHaveLength(100);
    await add(100);
    nowMs += 2_000;
    expect(await store.listByUser(userId, nowMs)).toHaveLength(100);
    await waitUntil(async () => (await as(first, 'GET', '/auth/session')).status === 401);
  });

  it('cannot be managed with API keys', async () => {
    for (const [method, path] of [
      ['GET', '/auth/session'],
      ['GET', '/account/sessions'],
      ['DELETE', '/account/sessions'],
      ['PUT', '/account/password'],
      ['POST', '/account/upgrade'],
    ] as const) {
      const answer = await server.call(method, path, { key: productionKey, headers: inSandbox });
      expect([path, ...slugOf(answer)]).toEqual([path, ...notSignedIn]);
    }
  });

  it('survives a restart', async () => {
    const left = await signIn(server);
    nowMs += 29 * day;
    const cookie = await signIn(server);
    expect(left).not.toBe(cookie);
    nowMs += 2 * day;
    await running.stop();
    running = await open();
    server = running.server;
    expect((await as(cookie, 'GET', '/videos', inSandbox)).status).toBe(200);
    await waitUntil(async () => (await countSessions()) === 1);
  });
});

describe('a password', () => {
  const change = (cookie: string, currentPassword: string, newPassword: string) =>
    as(cookie, 'PUT', '/account/password', {}, { currentPassword, newPassword });

  it('is changed with the current password', async () => {
    const [first, second] = [await signIn(server, studio), await signIn(server, studio)];
    const newPassword = 'nine boats come home at dusk';
    const refused: [string, string, string][] = [
      ['wrong', newPassword, 'currentPassword'],
      [studio.password, 'eleven char', 'newPassword'],
      [studio.password, 'x'.repeat(201), 'newPassword'],
      [studio.password, studio.email.toUpperCase(), 'newPassword'],
      [studio.password, studio.password, 'newPassword'],
    ];
    for (const [current, next, name] of refused) {
      const { status, json } = await change(first, current, next);
      expect([next, status, json.name]).toEqual([next, 400, name]);
    }
    expect((await as(second, 'GET', '/auth/session')).status).toBe(200);
    const { status, text, headers } = await change(first, studio.password, newPassword);
    expect([status, text]).toEqual([204, '']);
    const renewed = headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await as(renewed, 'GET', '/auth/session')).status).toBe(200);
    // Whoever has a copy of the cookie from before is shut out as well.
    for (const cookie of [first, second]) {
      expect(slugOf(await as(cookie, 'GET', '/auth/session'))).toEqual(notSignedIn);
    }
    expect((await trySignIn(studio)).status).toBe(401);
    expect((await trySignIn({ ...studio, password: newPassword })).status).toBe(201);
    expect((await change(renewed, newPassword, studio.password)).status).toBe(204);
  });
});

describe('the event feed', () => {
  const protocols = ['millrace.events.v1', 'environment.sandbox'];
  const dial = (headers: Record<string, string>, named = protocols) =>
    listen(running, { protocols: named, headers });

  it('accepts the cookie from a page of this server', async () => {
    const cookie = await signIn(server);
    const { socket, messages, closed } = await dial({ cookie, origin: server.baseUrl });
    expect(socket.protocol).toBe('millrace.events.v1');
    expect(messages[0]).toMatchObject({ type: 'hello', environment: 'sandbox' });
    await as(cookie, 'DELETE', '/auth/session');
    expect(await closed).toBe(4401);
  });

  it('is that of the named project, until the project is deleted', async () => {
    const cookie = await signIn(server);
    const { projectId } = (await as(cookie, 'POST', '/account/projects', {}, { name: 'With a feed' })).json;
    const headers = { cookie, origin: server.baseUrl };
    const { messages, closed } = await dial(headers, [...protocols, `project.${projectId}`]);
    expect(messages[0]).toMatchObject({ type: 'hello', environment: 'sandbox', lastEventId: '0' });
    await as(cookie, 'DELETE', `/account/projects/${projectId}`);
    expect(await closed).toBe(4401);
    const named = { 'sec-websocket-protocol': `${protocols.join(', ')}, project.${projectId}` };
    const { status, json } = await refusalOf(running, '/events', { ...headers, ...named });
    expect([status, json.type.split('/').at(-1)]).toEqual([403, 'authorization-unknown-project']);
  });

  it('rejects pages of other sites', async () => {
    const cookie = await signIn(server, studio);
    const asked = async (headers: Record<string, string>, environment = 'sandbox') => {
      const named = { 'sec-websocket-protocol': `millrace.events.v1, environment.${environment}` };
      const { status, json } = await refusalOf(running, '/events', { ...named, ...headers });
      return [status, json.type.split('/').at(-1)];
    };
    const origin = server.baseUrl;
    const otherSite = [403, 'authorization-other-site'];
    expect(await asked({ cookie })).toEqual(otherSite);
    expect(await asked({ cookie, origin: 'https://evil.example' })).toEqual(otherSite);
    expect(await asked({ origin })).toEqual(notSignedIn);
    expect(await asked({ cookie, origin }, 'production')).toEqual([
      403,
      'authorization-account-not-upgraded',
    ]);
    expect(await asked({ cookie, origin }, 'other')).toEqual([
      ...[401, 'authentication-missing-authorization-header'],
    ]);
  });
});
