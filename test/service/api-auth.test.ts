import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addressReader } from '../../src/http/listener/client-address.ts';
import { verifyPassword } from '../../src/resources/identity/accounts/password.ts';
import { tokenCleanup } from '../../src/resources/identity/auth/token-cleanup.ts';
import { databaseText, singleValue } from '../support/sql.ts';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let dataDir: string;
let server: TestApi;
let nowMs = Date.UTC(2026, 2, 4);
const clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() };

beforeEach(async () => {
  nowMs = Date.UTC(2026, 2, 4);
  dataDir = await makeTempDir();
  server = await startApi({ dataDir, clock });
});
afterEach(async () => {
  await server.stop();
  await removeDir(dataDir);
});

const login = (apiKey: unknown = sandboxKey) =>
  server.call('POST', '/auth/api-key', { key: null, body: { apiKey } });
const withToken = async (token: string) =>
  (await server.call('GET', '/live-streams', { key: null, headers: { authorization: `Bearer ${token}` } }))
    .status;
const refresh = (refreshToken: string) =>
  server.call('POST', '/auth/refresh', {
    key: null,
    body: { refreshToken },
    headers: { 'content-type': 'text/plain' },
  });

describe('an access token', () => {
  it('is issued for an API key', async () => {
    const answer = await server.call('POST', '/auth/api-key', {
      key: 'nonsense',
      body: { apiKey: sandboxKey },
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: expect.any(String),
      refresh_token: expect.any(String),
    });
    expect(await withToken(answer.json.access_token)).toBe(200);
  });

  it('survives a restart and expires after an hour', async () => {
    const { json } = await login();
    await server.stop();
    server = await startApi({ dataDir, clock });
    nowMs += 3_599_000;
    expect(await withToken(json.access_token)).toBe(200);
    nowMs += 1_000;
    expect(await withToken(json.access_token)).toBe(401);
  });

  it('is renewed with a refresh token, which works once', async () => {
    const { json } = await login();
    nowMs += 7_200_000;
    const renewed = await refresh(json.refresh_token);
    expect(renewed.status).toBe(200);
    expect(await withToken(renewed.json.access_token)).toBe(200);
    expect((await refresh(json.refresh_token)).status).toBe(400);
    expect((await refresh(renewed.json.refresh_token)).status).toBe(200);
  });

  it('is renewed once by requests that come together', async () => {
    const { json } = await login();
    const answers = await Promise.all(Array.from({ length: 4 }, () => refresh(json.refresh_token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  it('cannot be used as a refresh token', async () => {
    const { json } = await login();
    expect((await refresh(json.access_token)).status).toBe(400);
    expect(await withToken(json.refresh_token)).toBe(401);
  });

  it('leaves no row after it has expired', async () => {
    await login();
    nowMs += 31 * 24 * 3_600_000;
    await server.stop();
    server = await startApi({ dataDir, clock });
    const tokens = 'SELECT (SELECT count(*) FROM access_tokens) + (SELECT count(*) FROM refresh_tokens)';
    await waitUntil(async () => (await singleValue<number>(server.database, tokens)) === 0);
  });

  it('can still be renewed with the newest refresh tokens of a key', async () => {
    const other = await server.addAccount();
    const kept = await login(other.sandboxKey);
    const given: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      nowMs += 1_000;
      given.push((await login()).json.refresh_token);
    }
    const chore = tokenCleanup({ database: server.database, clock, maxRefreshTokens: 2 });
    expect(await chore.run()).toBe(2);
    const statuses = [];
    for (const token of [...given, kept.json.refresh_token]) statuses.push((await refresh(token)).status);
    expect(statuses).toEqual([400, 400, 200, 200, 200]);
  });
});

describe('wrong API keys', () => {
  let passedMs = 0;
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const peers = { addressOf: addressReader(['127.0.0.1']), isSecure: () => false };
  let limited: TestApi;
  beforeEach(async () => {
    passedMs = 0;
    const ofLimited = { nowMs: () => nowMs, monotonicMs: () => passedMs };
    limited = await startApi({ clock: ofLimited, peers, maxWrongKeysPerMinute: 3 });
  });
  afterEach(() => limited.stop());
  const statusWith = async (key: string, address: string) =>
    (await limited.call('GET', '/account', { key, headers: from(address) })).status;
  const exchange = (apiKey: string, address: string) =>
    limited.call('POST', '/auth/api-key', { key: null, headers: from(address), body: { apiKey } });

  it('get 429 after too many from one address', async () => {
    for (let count = 0; count < 2; count += 1) expect(await statusWith('wrong', '192.0.2.1')).toBe(401);
    expect((await exchange('wrong', '192.0.2.1')).status).toBe(400);
    const refused = await limited.call('GET', '/account', { key: 'wrong', headers: from('192.0.2.1') });
    expect([refused.status, refused.json.title]).toEqual([429, 'Too many requests.']);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect((await exchange('wrong', '192.0.2.1')).status).toBe(429);
    // Guessing must not tell which keys there are.
    expect(await statusWith(sandboxKey, '192.0.2.1')).toBe(429);
    expect(await statusWith(sandboxKey, '192.0.2.2')).toBe(200);
    passedMs = 60_000;
    expect(await statusWith(sandboxKey, '192.0.2.1')).toBe(200);
  });

  it('do not lock out a right key that was used from the same address before', async () => {
    expect(await statusWith(sandboxKey, '2001:db8::1')).toBe(200);
    for (let count = 0; count < 3; count += 1) expect(await statusWith('wrong', '2001:db8::2')).toBe(401);
    expect(await statusWith('wrong', '2001:db8::3')).toBe(429);
    expect(await statusWith(sandboxKey, '2001:db8::4')).toBe(200);
    expect((await exchange(sandboxKey, '2001:db8::4')).status).toBe(200);
  });
});

describe('wrong credentials', () => {
  it.each([
    ['/auth/api-key', { apiKey: 'unknown' }],
    ['/auth/api-key', { apiKey: '' }],
    ['/auth/api-key', { apiKey: productionKey }],
    ['/auth/refresh', { refreshToken: 'unknown' }],
  ])('at %s with %j answer 400', async (path, body) => {
    const answer = await server.call('POST', path, { key: null, body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title: 'The user credentials were incorrect.', name: '' });
    expect(answer.json.type).toMatch(/\/authentication-invalid-user-credentials$/);
  });

  it('get 400 when they are missing or not text', async () => {
    const missing = await server.call('POST', '/auth/api-key', { key: null, body: {} });
    expect(missing.json).toMatchObject({ title: 'This attribute is required.', name: 'apiKey' });
    expect((await login(5)).json).toMatchObject({ title: 'Invalid attributes.', name: 'apiKey' });
  });
});

describe('an account', () => {
  const accountId = async () =>
    (await server.database.first(server.database.queries.selectFrom('accounts').select('id')))!.id;

  it('can do nothing while it is suspended', async () => {
    const { json } = await login();
    await server.api.accounts.setStanding(await accountId(), { isSuspended: true });
    for (const headers of [
      { authorization: basic(sandboxKey) },
      { authorization: `Bearer ${json.access_token}` },
    ]) {
      const answer = await server.call('GET', '/live-streams', { key: null, headers });
      expect(answer.status).toBe(403);
      expect(answer.json).toMatchObject({
        title: 'Suspended account',
        type: expect.stringMatching(/authorization-suspended-account$/),
      });
    }
    expect((await login()).status).toBe(403);
    expect((await refresh(json.refresh_token)).status).toBe(403);
  });

  it('can use its production key after its upgrade', async () => {
    await server.api.accounts.setStanding(await accountId(), { isUpgraded: true });
    expect((await server.call('GET', '/live-streams', { key: productionKey })).status).toBe(200);
    expect((await login(productionKey)).status).toBe(200);
  });
});

describe('the database', () => {
  it('contains no key', async () => {
    const { json } = await login();
    const text = await databaseText(server.database);
    for (const secret of [
      sandboxKey,
      productionKey,
      json.access_token,
      json.refresh_token,
      'a password of tests',
    ]) {
      expect(text.includes(secret)).toBe(false);
    }
    const user = (await server.database.first(server.database.queries.selectFrom('users').selectAll()))!;
    expect(await verifyPassword('a password of tests', user.password_hash)).toBe(true);
    expect(await verifyPassword('another', user.password_hash)).toBe(false);
  });

  it('records when a key was used', async () => {
    await server.call('GET', '/live-streams');
    const used = await server.database.all(
      server.database.queries
        .selectFrom('api_keys')
        .select('last_used_at_ms')
        .where('last_used_at_ms', 'is not', null),
    );
    expect(used).toEqual([{ last_used_at_ms: nowMs }]);
  });
});
