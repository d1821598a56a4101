import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiDocument, operationsOf } from '../../scripts/api-document.ts';
import { type Scope, scopes } from '../../src/http/routing/scope.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { listen, startFeed } from './event-feed-fixture.ts';

const keysPath = '/account/api-keys';

let server: TestApi;
beforeAll(async () => {
  server = await startApi();
});
afterAll(() => server.stop());

interface KeyPair {
  readonly keyPairId: string;
  readonly key: string;
}

async function keyWith(given: readonly Scope[] | undefined, of: TestApi = server): Promise<KeyPair> {
  const { status, json } = await of.call('POST', keysPath, {
    body: given === undefined ? {} : { scopes: given },
  });
  expect(status).toBe(201);
  return { keyPairId: json.keyPairId, key: json.sandbox.apiKey };
}

/** Operations that take a key, with the scope that the document names. */
async function documented(): Promise<{ method: string; path: string; scope: Scope }[]> {
  const document: ApiDocument = (await server.call('GET', '/openapi.json', { key: null })).json;
  return operationsOf(document).flatMap(({ method, path, operation }) => {
    const needed = operation.security.find(({ apiKey }) => apiKey !== undefined)?.apiKey as Scope[];
    return needed === undefined ? [] : [{ method: method.toUpperCase(), path, scope: needed[0]! }];
  });
}

it('every write has the scope of its resource, and what shows secrets needs more than to read', async () => {
  const scopesOf = Object.groupBy(await documented(), ({ method, path }) =>
    method === 'GET'
      ? 'reads'
      : path
          .split('/')
          .slice(1, path.startsWith('/account') ? 3 : 2)
          .join('/'),
  );
  const { reads = [], ...writes } = scopesOf;
  const byResource = Object.fromEntries(
    Object.entries(writes).map(([name, list = []]) => [name, [...new Set(list.map(({ scope }) => scope))]]),
  );
  expect(byResource).toEqual({
    ...Object.fromEntries(
      ['videos', 'discarded', 'players', 'watermarks', 'summaries', 'upload-tokens'].map(name => [
        name,
        ['upload'],
      ]),
    ),
    'live-streams': ['live'],
    ...Object.fromEntries(
      ['api-keys', 'signing-keys', 'retention', 'video-defaults', 'playback-policy', 'channel'].map(name => [
        `account/${name}`,
        ['admin'],
      ]),
    ),
    webhooks: ['admin'],
    hooks: ['admin'],
  });
  const guarded = reads.filter(({ scope }) => scope !== 'read').map(({ path }) => path.split('/{')[0]);
  expect([...new Set(guarded)].sort()).toEqual([
    ...['/account/api-keys', '/account/audit-log', '/account/signing-keys', '/hooks', '/server'],
    ...['/server/checks', '/upload-tokens', '/webhooks'],
  ]);
});

it('a refusal names the scope and says what to do', async () => {
  const { key } = await keyWith(['read']);
  const { status, json } = await server.call('POST', '/videos', { key, body: { title: 'A video' } });
  expect([status, json.title]).toEqual([403, 'The scopes of these credentials are insufficient.']);
  expect(json.detail).toContain('"upload"');
  expect(json.detail).toContain('Use an API key that has it');
});

it('keys have all scopes unless told otherwise, and show those that admin includes', async () => {
  const scopesOf = async ({ keyPairId }: KeyPair) =>
    (await server.call('GET', `${keysPath}/${keyPairId}`)).json.scopes;
  expect(await scopesOf(await keyWith(undefined))).toEqual(scopes);
  expect(await scopesOf(await keyWith(['admin']))).toEqual(scopes);
  expect(await scopesOf(await keyWith(['live', 'read', 'live']))).toEqual(['read', 'live']);
  for (const wrong of [[], ['write'], 'read', null]) {
    const { status, json } = await server.call('POST', keysPath, { body: { scopes: wrong } });
    expect([wrong, status, json.name.split('[')[0]]).toEqual([wrong, 400, 'scopes']);
  }
});

it('new scopes apply at once, to tokens, too', async () => {
  const { key, keyPairId } = await keyWith(['read', 'upload']);
  const tokens = (await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: key } })).json;
  const create = () =>
    server.call('POST', '/videos', {
      key: null,
      headers: { authorization: `Bearer ${tokens.access_token}` },
      body: { title: 'A video' },
    });
  expect((await create()).status).toBe(201);
  const changed = await server.call('PATCH', `${keysPath}/${keyPairId}`, { body: { scopes: ['read'] } });
  expect(changed.json.scopes).toEqual(['read']);
  expect((await create()).status).toBe(403);
  const refreshed = await server.call('POST', '/auth/refresh', {
    key: null,
    body: { refreshToken: tokens.refresh_token },
  });
  const headers = { authorization: `Bearer ${refreshed.json.access_token}` };
  expect((await server.call('GET', '/videos', { key: null, headers })).status).toBe(200);
  expect((await server.call('POST', '/videos', { key: null, headers, body: { title: 'x' } })).status).toBe(
    403,
  );
});

it('callers without the scope live get no stream keys and no passwords of destinations and sources', async () => {
  const body = {
    name: 'Pier cam',
    restreams: [
      { name: 'Mirror', serverUrl: 'srt://mirror.example.net:9000?passphrase=hushhushhush', streamKey: 'rk' },
    ],
    source: { url: 'rtsp://camera:hush@camera.example.net/main', enabled: false },
  };
  const { json: stream } = await server.call('POST', '/live-streams', { body });
  expect(stream).toMatchObject({ streamKey: expect.any(String), restreams: body.restreams });
  const reader = await keyWith(['read', 'upload']);
  const path = `/live-streams/${stream.liveStreamId}`;
  for (const place of [path, '/live-streams']) {
    const { status, text } = await server.call('GET', place, { key: reader.key });
    expect(status).toBe(200);
    for (const secret of [stream.streamKey, 'hush', '"rk"']) expect(text).not.toContain(secret);
  }
  const { json } = await server.call('GET', path, { key: reader.key });
  expect(json).toMatchObject({ restreams: [{ name: 'Mirror', serverUrl: 'srt://mirror.example.net:9000' }] });
  expect(json.source.url).toBe('rtsp://camera.example.net/main');
  const operator = await keyWith(['read', 'live']);
  expect((await server.call('GET', path, { key: operator.key })).json).toEqual(stream);
});

it('the event feed needs the scope read, and ends when the key loses it', async () => {
  const running = await startFeed();
  const writer = await keyWith(['upload'], running.server);
  await expect(listen({ ...running, key: writer.key })).rejects.toThrow('403');
  const reader = await keyWith(['read'], running.server);
  const listener = await listen({ ...running, key: reader.key });
  const path = `${keysPath}/${reader.keyPairId}`;
  await running.server.call('PATCH', path, { body: { scopes: ['upload'] } });
  expect(await listener.closed).toBe(4401);
});
