import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenCleanup } from '../../src/resources/identity/auth/token-cleanup.ts';
import { signIn } from '../support/sign-in.ts';
import { databaseText, singleValue } from '../support/sql.ts';
import { productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let nowMs: number;
beforeEach(async () => {
  nowMs = Date.UTC(2026, 2, 4, 5, 6, 7);
  server = await startApi({
    isUpgraded: true,
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    rateLimits: { uploads: 100, writes: 200, reads: 0 },
  });
});
afterEach(() => server.stop());

const keysPath = '/account/api-keys';
const call = (method: string, path: string, body?: unknown, key = productionKey) =>
  server.call(method, path, { key, body });
const create = async (body: unknown = {}, key = productionKey) =>
  (await call('POST', keysPath, body, key)).json;
const statusWith = async (key: string) => (await server.call('GET', '/account', { key })).status;
const list = async (query = '', key = productionKey) =>
  (await call('GET', `${keysPath}${query}`, undefined, key)).json;

describe('an account', () => {
  it('shows the environment of the credential and the current limits', async () => {
    const sandbox = await server.call('GET', '/account');
    expect(sandbox.status).toBe(200);
    expect(sandbox.json).toEqual({
      accountId: expect.stringMatching(/^ac[0-9A-Za-z]{22}$/),
      email: 'admin@localhost',
      createdAt: expect.stringMatching(/\+00:00$/),
      upgraded: true,
      operator: true,
      environment: 'sandbox',
      projectId: expect.stringMatching(/^pr/),
      projectName: 'Default',
      limits: { apiKeyPairs: 100, webhooks: 10, requestsPerMinute: { uploads: 100, writes: 200 } },
      ingest: { rtmp: 'rtmp://localhost/s' },
    });
    const production = (await call('GET', '/account')).json;
    expect(production).toMatchObject({ accountId: sandbox.json.accountId, environment: 'production' });
    expect(production.projectId).not.toBe(sandbox.json.projectId);
  });

  it('has no email without a user', async () => {
    const { sandboxKey: key, accountId } = await server.addAccount();
    const { json } = await server.call('GET', '/account', { key });
    expect(json).toMatchObject({ accountId, upgraded: false });
    expect(json).not.toHaveProperty('email');
    expect(json).not.toHaveProperty('operator');
  });
});

describe('a pair of API keys', () => {
  it('is created with two working keys, which are shown once', async () => {
    const answer = await call('POST', keysPath, { name: 'Upload page' });
    expect(answer.status).toBe(201);
    const { keyPairId, sandbox, production } = answer.json;
    expect(answer.json).toEqual({
      keyPairId: expect.stringMatching(/^kp[0-9A-Za-z]{22}$/),
      name: 'Upload page',
      scopes: ['read', 'upload', 'live', 'admin'],
      createdAt: '2026-03-04T05:06:07+00:00',
      sandbox: {
        apiKey: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
        hint: sandbox.apiKey.slice(-4),
        createdAt: '2026-03-04T05:06:07+00:00',
      },
      production: expect.objectContaining({ hint: production.apiKey.slice(-4) }),
    });
    expect((await server.call('GET', '/account', { key: sandbox.apiKey })).json.environment).toBe('sandbox');
    expect((await server.call('GET', '/account', { key: production.apiKey })).json.environment).toBe(
      'production',
    );

    const again = await call('GET', `${keysPath}/${keyPairId}`);
    expect(again.status).toBe(200);
    expect(again.json.sandbox).toEqual({
      hint: sandbox.hint,
      createdAt: '2026-03-04T05:06:07+00:00',
      lastUsedAt: '2026-03-04T05:06:07+00:00',
    });
    expect((await server.call('GET', keysPath, { key: productionKey })).text).not.toContain(sandbox.apiKey);
    expect(await databaseText(server.database)).not.toContain(sandbox.apiKey);
  });

  it('has no name unless one is given, and can be renamed', async () => {
    const { keyPairId } = await create();
    const path = `${keysPath}/${keyPairId}`;
    expect((await call('GET', path)).json).not.toHaveProperty('name');
    expect((await call('PATCH', path, { name: 'x'.repeat(100) })).json.name).toBe('x'.repeat(100));
    expect((await call('PATCH', path, {})).json.name).toBe('x'.repeat(100));
    expect((await call('PATCH', path, { name: null })).json).not.toHaveProperty('name');
    for (const name of ['', 'x'.repeat(101), 5, 'a\u0000b']) {
      expect([name, (await call('PATCH', path, { name })).json.name]).toEqual([name, 'name']);
      expect([name, (await call('POST', keysPath, { name })).status]).toEqual([name, 400]);
    }
  });

  it('is listed', async () => {
    // The first account's own pair is from now.
    nowMs = Date.now();
    for (const name of ['one', 'two']) {
      nowMs += 1_000;
      await create({ name });
    }
    const names = (page: { data: { name?: string }[] }) => page.data.map(({ name }) => name);
    expect(names(await list())).toEqual(['two', 'one', undefined]);
    expect(names(await list('?sortBy=createdAt'))).toEqual([undefined, 'one', 'two']);
    const second = await list('?pageSize=2&currentPage=2');
    expect(names(second)).toEqual([undefined]);
    expect(second.pagination).toMatchObject({ itemsTotal: 3, pagesTotal: 2, currentPageItems: 1 });
    expect((await call('GET', `${keysPath}?sortBy=name`)).status).toBe(400);
  });

  it('is refused beyond a hundred', async () => {
    for (let count = 1; count < 100; count += 1) await create();
    const answer = await call('POST', keysPath, {});
    expect(answer.status).toBe(400);
    expect(answer.json.type).toMatch(/\/api-key-limit-reached$/);
    expect((await list()).pagination.itemsTotal).toBe(100);
  });

  it('is refused beyond a hundred that are created at once', async () => {
    for (let count = 1; count < 98; count += 1) await create();
    const answers = await Promise.all(Array.from({ length: 6 }, () => call('POST', keysPath, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 400, 400, 400, 400]);
    expect((await list()).pagination.itemsTotal).toBe(100);
  });

  it('is refused beyond a hundred in the sandbox, which leaves production as it was', async () => {
    const { productionKey: key, sandboxKey: sandbox } = await server.addAccount({ isUpgraded: true });
    const post = (of: string, path = keysPath) => server.call('POST', path, { key: of, body: {} });
    for (let count = 1; count < 100; count += 1) expect((await post(sandbox)).status).toBe(201);
    expect((await post(sandbox)).json.type).toMatch(/\/api-key-limit-reached$/);
    const made = await post(key);
    expect(made.json).toMatchObject({ sandbox: {}, production: {} });
    const removed = `${keysPath}/${made.json.keyPairId}/sandbox`;
    expect((await server.call('DELETE', removed, { key })).status).toBe(204);
    expect((await post(key, removed)).json.type).toMatch(/\/api-key-limit-reached$/);
  });

  it('of another account is not found', async () => {
    const { keyPairId } = await create();
    const { productionKey: key, sandboxKey: sandbox } = await server.addAccount({ isUpgraded: true });
    for (const stranger of [key, sandbox]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'mine' }],
        ['DELETE', '', undefined],
        ['POST', '/sandbox', undefined],
        ['DELETE', '/sandbox', undefined],
      ] as const) {
        const answer = await call(method, `${keysPath}/${keyPairId}${path}`, body, stranger);
        expect([method, path, answer.status, answer.json?.name]).toEqual([method, path, 404, 'keyPairId']);
      }
      expect((await list('', stranger)).pagination.itemsTotal).toBe(1);
    }
    expect((await call('GET', `${keysPath}/${keyPairId}`)).json).not.toHaveProperty('name');
  });
});

describe('regenerating a key', () => {
  it('ends the previous key with its tokens at once', async () => {
    const { keyPairId, sandbox, production } = await create();
    const token = (
      await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: sandbox.apiKey } })
    ).json;
    const bearer = () =>
      server.call('GET', '/account', {
        key: null,
        headers: { authorization: `Bearer ${token.access_token}` },
      });
    expect((await bearer()).status).toBe(200);
    expect(await statusWith(sandbox.apiKey)).toBe(200);
    nowMs += 60_000;

    const answer = await call('POST', `${keysPath}/${keyPairId}/sandbox`);
    expect(answer.status).toBe(201);
    expect(answer.json.sandbox.apiKey).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(answer.json.sandbox).toMatchObject({ createdAt: '2026-03-04T05:07:07+00:00' });
    expect(answer.json.sandbox).not.toHaveProperty('lastUsedAt');
    expect(answer.json.production).not.toHaveProperty('apiKey');

    expect(await statusWith(sandbox.apiKey)).toBe(401);
    expect((await bearer()).status).toBe(401);
    const refreshed = await server.call('POST', '/auth/refresh', {
      key: null,
      body: { refreshToken: token.refresh_token },
    });
    expect(refreshed.status).toBe(400);
    expect(await statusWith(answer.json.sandbox.apiKey)).toBe(200);
    expect(await statusWith(production.apiKey)).toBe(200);
  });

  it('leaves one key when it is regenerated twice at once', async () => {
    const { keyPairId } = await create();
    const answers = await Promise.all(
      ['sandbox', 'sandbox'].map(environment => call('POST', `${keysPath}/${keyPairId}/${environment}`)),
    );
    const statuses = await Promise.all(answers.map(({ json }) => statusWith(json.sandbox.apiKey)));
    expect(statuses.sort()).toEqual([200, 401]);
  });

  it('works with the key itself, whose answer still comes', async () => {
    const [pair] = (await list()).data;
    const { status, json } = await call('POST', `${keysPath}/${pair.keyPairId}/production`);
    expect(status).toBe(201);
    expect(await statusWith(productionKey)).toBe(401);
    expect(await statusWith(json.production.apiKey)).toBe(200);
  });

  it('rejects unknown environments', async () => {
    const { keyPairId } = await create();
    const answer = await call('POST', `${keysPath}/${keyPairId}/staging`);
    expect([answer.status, answer.json.name]).toEqual([404, 'environment']);
  });

  it('leaves no row of the previous key and its tokens', async () => {
    const { keyPairId, sandbox } = await create();
    await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: sandbox.apiKey } });
    await call('POST', `${keysPath}/${keyPairId}/sandbox`);
    await server.api.tokenCleanup.stop();
    const counts = () =>
      Promise.all([
        singleValue<number>(
          server.database,
          'SELECT (SELECT count(*) FROM access_tokens) + (SELECT count(*) FROM refresh_tokens)',
        ),
        singleValue<number>(server.database, 'SELECT count(*) FROM api_keys WHERE revoked_at_ms IS NOT NULL'),
      ]);
    expect(await counts()).toEqual([2, 1]);
    const chore = tokenCleanup({
      database: server.database,
      clock: { nowMs: () => nowMs, monotonicMs: () => 0 },
    });
    expect(await chore.run()).toBe(3);
    expect(await counts()).toEqual([0, 0]);
  });
});

describe('deleting keys', () => {
  it('leaves the last key of an environment, also when all are deleted at once', async () => {
    const headers = { cookie: await signIn(server), 'millrace-environment': 'production' };
    for (let count = 0; count < 3; count += 1) await create();
    const pairs = (await list()).data as { keyPairId: string }[];
    const answers = await Promise.all(
      pairs.map(({ keyPairId }) => server.call('DELETE', `${keysPath}/${keyPairId}`, { key: null, headers })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 204, 409]);
    const keys = 'SELECT count(*) FROM api_keys WHERE revoked_at_ms IS NULL';
    expect(await singleValue<number>(server.database, keys)).toBe(2);
  });

  it('ends a single key at once', async () => {
    const { keyPairId, sandbox, production } = await create();
    const path = `${keysPath}/${keyPairId}`;
    await Promise.all([statusWith(sandbox.apiKey), statusWith(production.apiKey)]);
    expect((await call('DELETE', `${path}/sandbox`)).status).toBe(204);
    expect(await statusWith(sandbox.apiKey)).toBe(401);
    expect((await call('GET', path)).json).not.toHaveProperty('sandbox');
    expect((await call('DELETE', `${path}/sandbox`)).json).toMatchObject({
      status: 404,
      name: 'environment',
    });
    expect(await statusWith(production.apiKey)).toBe(200);
    // Uses the very key that is deleted.
    expect((await call('DELETE', `${path}/production`, undefined, production.apiKey)).status).toBe(204);
    expect(await statusWith(production.apiKey)).toBe(401);
    expect((await call('GET', path)).status).toBe(404);
  });

  it('ends both keys of a pair', async () => {
    const { keyPairId, sandbox, production } = await create();
    await Promise.all([statusWith(sandbox.apiKey), statusWith(production.apiKey)]);
    expect((await call('DELETE', `${keysPath}/${keyPairId}`)).status).toBe(204);
    expect(await statusWith(sandbox.apiKey)).toBe(401);
    expect(await statusWith(production.apiKey)).toBe(401);
    expect((await list()).pagination.itemsTotal).toBe(1);
  });

  it('refuses to delete the last key of an environment', async () => {
    const [first] = (await list()).data;
    const { keyPairId } = await create();
    expect((await call('DELETE', `${keysPath}/${keyPairId}/sandbox`)).status).toBe(204);
    for (const path of ['/sandbox', '']) {
      const answer = await call('DELETE', `${keysPath}/${first.keyPairId}${path}`);
      expect(answer.status).toBe(409);
      expect(answer.json).toMatchObject({
        title: 'This is the last API key of the environment.',
        name: 'sandbox',
        detail: expect.stringContaining('Create another key first'),
      });
      expect(answer.json.type).toMatch(/\/last-api-key$/);
    }
    expect(await statusWith(sandboxKey)).toBe(200);
    expect(await statusWith(productionKey)).toBe(200);
    expect((await call('DELETE', `${keysPath}/${first.keyPairId}/production`)).status).toBe(204);
  });
});

describe('a sandbox credential', () => {
  it('makes, sees, regenerates and deletes keys of the sandbox only', async () => {
    const { keyPairId, production } = await create();
    const path = `${keysPath}/${keyPairId}`;
    expect((await call('GET', path, undefined, sandboxKey)).json).not.toHaveProperty('production');
    expect(JSON.stringify(await list('', sandboxKey))).not.toContain('production');
    for (const method of ['POST', 'DELETE']) {
      const answer = await call(method, `${path}/production`, undefined, sandboxKey);
      expect(answer.status).toBe(403);
      expect(answer.json.type).toMatch(/\/authorization-production-credential-required$/);
    }
    const regenerated = await call('POST', `${path}/sandbox`, undefined, sandboxKey);
    expect(regenerated.json).not.toHaveProperty('production');
    expect((await call('DELETE', path, undefined, sandboxKey)).status).toBe(204);
    expect(await statusWith(regenerated.json.sandbox.apiKey)).toBe(401);
    expect(await statusWith(production.apiKey)).toBe(200);
    // The rest is out of its reach.
    expect((await call('GET', path, undefined, sandboxKey)).status).toBe(404);
    expect((await call('POST', `${path}/sandbox`, undefined, sandboxKey)).status).toBe(404);
    expect((await call('GET', path)).json).not.toHaveProperty('sandbox');

    const own = await create({ name: 'test' }, sandboxKey);
    expect(own).not.toHaveProperty('production');
    expect((await call('POST', `${keysPath}/${own.keyPairId}/production`)).json.production.apiKey).toEqual(
      expect.any(String),
    );
  });

  it('has the same permissions as a token', async () => {
    const { json } = await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: sandboxKey } });
    const made = await server.call('POST', keysPath, {
      key: null,
      headers: { authorization: `Bearer ${json.access_token}` },
      body: {},
    });
    expect(made.json).not.toHaveProperty('production');
  });

  it('is all that an account has before its upgrade', async () => {
    const { sandboxKey: key } = await server.addAccount();
    const made = (await call('POST', keysPath, {}, key)).json;
    expect(made).not.toHaveProperty('production');
    expect(await statusWith(made.sandbox.apiKey)).toBe(200);
  });
});
