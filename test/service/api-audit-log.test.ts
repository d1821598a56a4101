import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { buildApiDocument, operationsOf } from '../../scripts/api-document.ts';
import { AuditStore } from '../../src/resources/identity/audit/audit.store.ts';
import type { AuditEvent } from '../../src/resources/identity/audit/audit-entry.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { admin, signIn } from '../support/sign-in.ts';
import { productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { chunkBytes, fileForm, noise } from './upload-fixture.ts';
import { startWireApi, type WireApi } from './wire-calls.ts';

const path = '/account/audit-log';

async function logOf({ call }: TestApi, query = '', key: string = productionKey) {
  const answer = await call('GET', `${path}?pageSize=100&${query}`, { key });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json;
}

describe('every changing route', () => {
  let api: WireApi;
  beforeAll(async () => {
    api = await startWireApi();
  });
  afterAll(() => api.stop());

  it('leaves exactly one entry, without any secret of the request and the response', async () => {
    const { accountId } = (await api.call('GET', '/account')).json;
    const store = new AuditStore(api.database);
    const newest = async () =>
      (await store.list(accountId, {}, 'desc', { currentPage: 1, pageSize: 3 })) satisfies object;
    const actions = new Map<string, string>();
    for (const { method, path: route, operation } of operationsOf(await buildApiDocument())) {
      const isCounted = operation.security.length > 0 || route === '/auth/session';
      if (method === 'GET' || !isCounted) continue;
      const name = `${method} ${route}`;
      const { path: target, body, cookie } = await api.calls[name]!();
      const before = (await newest()).total;
      const answer = await api.call(method, target, {
        body,
        headers: cookie === undefined ? undefined : { cookie },
      });
      const { items, total } = await newest();
      expect([name, answer.status < 300, total - before]).toEqual([name, true, 1]);
      const [entry] = items;
      expect(entry).toMatchObject({ address: '127.0.0.1', summary: expect.any(String) });
      expect(entry!.action).toMatch(/^[a-z-]+(\.[a-z-]+)+$/);
      const text = JSON.stringify(entry);
      for (const secret of secretsOf(body, answer.json, target, cookie)) expect(text).not.toContain(secret);
      if (!name.includes('/upload') && !name.includes('/source')) actions.set(name, entry!.action);
    }
    expect(actions.get('PATCH /videos/{videoId}')).toBe('video.update');
    expect(actions.get('DELETE /videos/{videoId}/captions/{language}')).toBe('video.caption.delete');
    expect(new Set(actions.values()).size).toBe(actions.size);
  });
});

/** Everything that is sent and received but names, ids and words of enumerations. */
function secretsOf(body: object | undefined, answer: unknown, target: string, cookie: string | undefined) {
  const secrets = [sandboxKey, ...(cookie === undefined ? [] : [cookie.split('=')[1]!])];
  const add = (value: unknown, name = ''): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) add(inner, key);
    } else if (
      typeof value === 'string' &&
      value.length > 12 &&
      !/(?:Id|At|[nN]ame|title|[eE]mail)$/.test(name)
    ) {
      secrets.push(value);
    }
  };
  if (!(body instanceof FormData)) add(body);
  add(answer);
  const token = /(?:token=|upload-tokens\/)(\w+)/.exec(target)?.[1];
  return token === undefined ? secrets : [...secrets, token];
}

describe('the audit log', () => {
  const errors: string[] = [];
  const log: Logger = {
    ...silentLogger,
    error: event => void errors.push(event),
    child: () => log,
  };
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi({ isUpgraded: true, log });
  });
  afterAll(() => api.stop());

  it('tells who changed what, and which attributes', async () => {
    const { videoId } = (await api.call('POST', '/videos', { body: { title: 'Harbour' } })).json;
    await api.call('PATCH', `/videos/${videoId}`, { body: { title: 'Pier', public: false } });
    const [entry] = (await logOf(api, `targetId=${videoId}&action=video.update`)).data;
    expect(entry).toMatchObject({
      action: 'video.update',
      summary: expect.stringMatching(/video/i),
      actor: { kind: 'api-key', id: expect.stringMatching(/^ak/) },
      environment: 'sandbox',
      target: { kind: 'video', id: videoId, name: 'Pier' },
      changed: ['title', 'public'],
    });
  });

  it('records nothing for requests that are refused, or change nothing', async () => {
    const { videoId } = (await api.call('POST', '/videos', { body: { title: 'Quay' } })).json;
    const { itemsTotal } = (await logOf(api)).pagination;
    expect((await api.call('PATCH', `/videos/${videoId}`, { body: {} })).status).toBe(200);
    await api.call('PATCH', '/videos/vi0000', { body: { title: 'x' } });
    await api.call('POST', '/videos', { body: { title: 1 } });
    await api.call('POST', '/videos', { body: { title: 'x' }, key: 'wrong' });
    expect((await logOf(api)).pagination.itemsTotal).toBe(itemsTotal);
  });

  it('records sign-ins, and refused ones of known users', async () => {
    const wrong = (email: string) =>
      api.call('POST', '/auth/session', { key: null, body: { email, password: 'not the password' } });
    expect((await wrong(admin.email)).status).toBe(401);
    expect((await wrong('nobody@example.org')).status).toBe(401);
    const cookie = await signIn(api);
    await api.call('DELETE', '/auth/session', { key: null, headers: { cookie } });
    const { data } = await logOf(api, 'pageSize=3');
    expect(data.map((entry: { action: string }) => entry.action)).toEqual([
      ...['session.end', 'session.create', 'session.refuse'],
    ]);
    for (const { actor, address } of data) {
      expect([actor.kind, actor.name, address]).toEqual(['user', admin.email, '127.0.0.1']);
    }
  });

  it('shows API keys of the sandbox only their sandbox, and users everything', async () => {
    await api.call('POST', '/videos', { body: { title: 'Secret film' }, key: productionKey });
    const ofSandbox = await logOf(api, '', sandboxKey);
    expect(ofSandbox.data.length).toBeGreaterThan(0);
    for (const { environment } of ofSandbox.data) expect(environment).toBe('sandbox');
    const cookie = await signIn(api);
    const headers = { cookie, 'millrace-environment': 'sandbox' };
    const { json } = await api.call('GET', path, { key: null, headers });
    expect(json.data.map((entry: { environment?: string }) => entry.environment)).toContain('production');
    const other = await api.addAccount({ isUpgraded: true });
    expect((await logOf(api, '', other.productionKey)).data).toEqual([]);
  });

  it('undoes a change that it cannot record and logs why, while reads go on', async () => {
    const { videoId } = (await api.call('POST', '/videos', { body: { title: 'Harbour' } })).json;
    const broken = vi.spyOn(AuditStore.prototype, 'add').mockRejectedValue(new Error('no more writes'));
    onTestFinished(() => broken.mockRestore());
    errors.length = 0;
    const { status } = await api.call('PATCH', `/videos/${videoId}`, { body: { title: 'Pier' } });
    expect([status, errors]).toEqual([500, expect.arrayContaining(['change-not-recorded'])]);
    const after = await api.call('GET', `/videos/${videoId}`);
    expect([after.status, after.json.title]).toEqual([200, 'Harbour']);
  });

  it('counts the chunks of an upload once, also those that arrive at the same time', async () => {
    const { videoId } = (await api.call('POST', '/videos', { body: { title: 'Long' } })).json;
    const send = (part: number, bytes: number) =>
      api.call('POST', `/videos/${videoId}/source`, {
        body: fileForm(noise(bytes)),
        headers: { 'content-range': `part ${part}/3` },
      });
    const answers = await Promise.all([send(1, chunkBytes), send(2, chunkBytes)]);
    answers.push(await send(3, 1_000));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect((await logOf(api, `targetId=${videoId}&action=video.upload`)).data).toHaveLength(1);
  });

  it('names a shortened upload token as the actor of its upload', async () => {
    const { token } = (await api.call('POST', '/upload-tokens', { body: { ttl: 0 } })).json;
    const upload = await api.call('POST', `/upload?token=${token}`, { key: null, body: fileForm(noise(10)) });
    const { data } = await logOf(api, `targetId=${upload.json.videoId}`);
    expect(data).toMatchObject([
      { action: 'video.upload', actor: { kind: 'upload-token', id: `${token.slice(0, 6)}…` } },
    ]);
    expect(JSON.stringify(await logOf(api))).not.toContain(token);
  });
});

describe('the store of the log', () => {
  let api: TestApi;
  let store: AuditStore;
  let accountId: string;
  const event = (index: number): AuditEvent => ({
    accountId,
    project: { projectId: index % 4 === 0 ? 'pr1' : 'pr2', environment: 'sandbox' },
    actor: { kind: 'user', id: `us${index % 3}`, name: undefined },
    action: index % 5 === 0 ? 'video.delete' : 'video.update',
    summary: 'Change',
    target: { kind: 'video', id: `vi${index % 7}`, name: undefined },
  });
  const all = Array.from({ length: 100 }, (_, index) => index);
  const atMs = (index: number) => 1_000 * Math.floor(index / 2);

  beforeAll(async () => {
    api = await startApi();
    store = new AuditStore(api.database);
    accountId = (await api.addAccount()).accountId;
    for (const index of all) {
      await api.database.transaction(transaction => store.add(event(index), atMs(index), transaction));
    }
  });
  afterAll(() => api.stop());

  const filters = {
    none: [{}, () => true],
    actor: [{ actor: 'us1' }, index => index % 3 === 1],
    action: [{ action: 'video.delete' }, index => index % 5 === 0],
    target: [{ targetId: 'vi3' }, index => index % 7 === 3],
    project: [{ projects: { ids: ['pr1'], withAccount: false } }, index => index % 4 === 0],
    two: [{ actor: 'us1', action: 'video.delete' }, index => index % 3 === 1 && index % 5 === 0],
    unknown: [{ actor: 'us9' }, () => false],
  } satisfies Record<string, [object, (index: number) => boolean]>;
  const times = {
    always: {},
    from: { fromMs: 10_000 },
    to: { toMs: 30_500 },
    between: { fromMs: 9_999, toMs: 21_000 },
    before: { toMs: 0 },
    after: { fromMs: 1_000_000 },
  };

  it.each(Object.keys(filters) as (keyof typeof filters)[])(
    'finds pages and totals (filter: %s)',
    async name => {
      const [filter, matches] = filters[name];
      for (const [when, { fromMs = 0, toMs = Number.POSITIVE_INFINITY }] of Object.entries<{
        fromMs?: number;
        toMs?: number;
      }>(times)) {
        const expected = all
          .filter(index => matches(index) && atMs(index) >= fromMs && atMs(index) < toMs)
          .map(index => index + 1);
        for (const direction of ['asc', 'desc'] as const) {
          const wanted = direction === 'asc' ? expected : expected.toReversed();
          for (const currentPage of [1, 2, 30]) {
            const page = { currentPage, pageSize: 7 };
            const given = times[when as keyof typeof times];
            const { items, total } = await store.list(accountId, { ...filter, ...given }, direction, page);
            expect([when, total]).toEqual([when, expected.length]);
            expect(items.map(({ number }) => number)).toEqual(
              wanted.slice((currentPage - 1) * 7, currentPage * 7),
            );
          }
        }
      }
    },
  );

  it('keeps numbers without gaps when entries are added at once, and times in their order', async () => {
    const { accountId: busy } = await api.addAccount();
    await Promise.all(
      all.map(index =>
        api.database.transaction(transaction =>
          store.add({ ...event(index), accountId: busy }, 5_000 - index, transaction),
        ),
      ),
    );
    const { items } = await store.list(busy, {}, 'asc', { currentPage: 1, pageSize: 100 });
    expect(items.map(({ number }) => number)).toEqual(all.map(index => index + 1));
    const added = items.map(item => item.atMs);
    expect(added).toEqual(added.toSorted((a, b) => a - b));
  });

  it('removes old entries, and goes on with their numbers', async () => {
    expect(await store.removeBefore(atMs(60))).toBeGreaterThanOrEqual(60);
    const page = { currentPage: 1, pageSize: 100 };
    expect((await store.list(accountId, {}, 'asc', page)).items[0]!.number).toBe(61);
    expect((await store.list(accountId, { actor: 'us1' }, 'asc', page)).total).toBe(13);
    await store.removeBefore(Number.MAX_SAFE_INTEGER);
    expect(await store.list(accountId, {}, 'asc', page)).toEqual({ items: [], total: 0 });
    await api.database.transaction(transaction => store.add(event(1), 0, transaction));
    const { items, total } = await store.list(accountId, { actor: 'us1' }, 'asc', page);
    expect([total, items[0]!.number]).toEqual([1, 101]);
  });
});
