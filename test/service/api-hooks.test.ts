import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
beforeAll(async () => {
  server = await startApi({ isUpgraded: true });
});
afterAll(() => server?.stop());

const url = 'https://hooks.example.net/publish';

test('a hook is created, replaced and deleted, and keeps its id and secret while it is replaced', async () => {
  const none = await server.call('GET', '/hooks');
  expect([none.status, none.json]).toMatchObject([200, { publish: null, play: null }]);
  expect((await server.call('GET', '/hooks/publish')).status).toBe(404);
  const created = await server.call('PUT', '/hooks/publish', { body: { url } });
  expect([created.status, created.json]).toEqual([
    200,
    {
      hookId: expect.stringMatching(/^hook_/),
      hook: 'publish',
      url,
      timeoutSeconds: 5,
      onFailure: 'refuse',
      signatureSecret: expect.stringMatching(/^sig_sec_/),
      createdAt: expect.any(String),
      results: [],
    },
  ]);
  const settings = { url: `${url}/2`, timeoutSeconds: 1, onFailure: 'allow' };
  const replaced = await server.call('PUT', '/hooks/publish', { body: settings });
  expect(replaced.json).toEqual({ ...created.json, ...settings });
  expect((await server.call('GET', '/hooks')).json.publish).toEqual(replaced.json);
  expect((await server.call('DELETE', '/hooks/publish')).status).toBe(204);
  expect((await server.call('DELETE', '/hooks/publish')).status).toBe(404);
  expect((await server.call('POST', '/hooks/publish/test')).status).toBe(404);
});

test.each([
  [{}, 'url'],
  [{ url: 'ftp://hooks.example.net' }, 'url'],
  [{ url, timeoutSeconds: 0 }, 'timeoutSeconds'],
  [{ url, timeoutSeconds: 11 }, 'timeoutSeconds'],
  [{ url, onFailure: 'maybe' }, 'onFailure'],
])('%j is refused because of %s', async (body, name) => {
  const { status, json } = await server.call('PUT', '/hooks/publish', { body });
  expect([status, json.name]).toEqual([400, name]);
});

test('there are no other hooks', async () => {
  expect((await server.call('PUT', '/hooks/record', { body: { url } })).status).toBe(404);
});

test('a test that reaches nobody says why, is kept, and ten a minute are sent', async () => {
  await server.call('PUT', '/hooks/publish', { body: { url } });
  const { status, json } = await server.call('POST', '/hooks/publish/test');
  expect([status, json]).toMatchObject([200, { result: 'refused', test: true, error: expect.any(String) }]);
  for (let count = 1; count < 10; count++) await server.call('POST', '/hooks/publish/test');
  expect((await server.call('POST', '/hooks/publish/test')).status).toBe(429);
  const { results } = (await server.call('GET', '/hooks/publish')).json;
  expect(results).toHaveLength(10);
});
