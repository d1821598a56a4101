import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
beforeAll(async () => {
  server = await startApi();
});
afterAll(() => server.stop());

const typeOf = (slug: string) => `http://localhost:${server.listener.httpPort}/docs/errors/${slug}`;

describe('an answer', () => {
  it('has exactly the content type application/json, with and without a fault', async () => {
    const list = await server.call('GET', '/live-streams');
    expect(list.status).toBe(200);
    expect(list.headers.get('content-type')).toBe('application/json');
    const missing = await server.call('GET', '/nothing');
    expect(missing.headers.get('content-type')).toBe('application/json');
  });

  it('can be read by pages of any origin', async () => {
    for (const path of ['/live-streams', '/nothing']) {
      const answer = await server.call('GET', path, { headers: { origin: 'https://page.example' } });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('X-RateLimit-Remaining');
    }
  });

  it('lets a page ask first, without credentials', async () => {
    const answer = await server.call('OPTIONS', '/live-streams', { key: null });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Content-Range, AV-Origin-Client, AV-Origin-App, AV-Origin-Sdk, X-Token-Session',
    );
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect(answer.headers.get('content-type')).toBeNull();
  });

  it('to HEAD has the headers of GET and no body', async () => {
    const get = await server.call('GET', '/live-streams');
    const head = await server.call('HEAD', '/live-streams');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
    expect(head.headers.get('content-type')).toBe('application/json');
  });

  it('is not refused for what the client accepts or calls itself', async () => {
    const headers = {
      accept: 'text/html',
      'av-origin-client': 'nodejs:2.6.6',
      'av-origin-app': 'x',
      'av-origin-sdk': '',
    };
    expect((await server.call('GET', '/live-streams', { headers })).status).toBe(200);
  });
});

describe('a path', () => {
  it('that is unknown answers 404 before credentials are asked for', async () => {
    const answer = await server.call('GET', '/nothing/here', { key: null });
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({
      type: typeOf('unrecognized-request-url'),
      title: 'Unrecognized request URL.',
      status: 404,
    });
  });

  it('that is known with another method answers 405 and the methods it has', async () => {
    const answer = await server.call('DELETE', '/live-streams', { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
    expect(answer.json).toEqual({
      type: typeOf('method-not-allowed'),
      title: 'Method is not allowed for this route.',
      status: 405,
    });
  });

  it.each([
    '/LIVE-STREAMS',
    '/live-streams/',
    '/live-streams//',
    '//live-streams',
    '/%00',
    '/%zz',
    '/live-streams/a/b/c',
  ])('%s is not taken for another', async path => {
    expect((await server.call('GET', path)).status).toBe(404);
  });

  it('may be percent-encoded where it names an id', async () => {
    const made = await server.call('POST', '/live-streams', { body: { name: 'Pier cam' } });
    const encoded = `%${made.json.liveStreamId.charCodeAt(0).toString(16)}${made.json.liveStreamId.slice(1)}`;
    expect((await server.call('GET', `/live-streams/${encoded}`)).json.name).toBe('Pier cam');
  });
});

describe('credentials', () => {
  const refused = async (headers: Record<string, string>) =>
    server.call('GET', '/live-streams', { key: null, headers });

  it.each([
    [{}, 'The "Authorization" header is missing.', 'authentication-missing-authorization-header'],
    [
      { authorization: 'Basic' },
      'The "Authorization" header value is invalid.',
      'authentication-invalid-authorization-header-value',
    ],
    [
      { authorization: '' },
      'The "Authorization" header value is invalid.',
      'authentication-invalid-authorization-header-value',
    ],
    [
      { authorization: 'Digest x' },
      'The "Authorization" header value is invalid.',
      'authentication-invalid-authorization-header-value',
    ],
    [
      { authorization: `Basic ${btoa('no colon')}` },
      'The "Authorization" header value is invalid.',
      'authentication-invalid-authorization-header-value',
    ],
    [
      { authorization: `Basic ${btoa(':')}` },
      'The "Authorization" header value is invalid.',
      'authentication-invalid-authorization-header-value',
    ],
    [{ authorization: basic('unknown') }, 'The API key is invalid.', 'authentication-invalid-api-key'],
    [
      { authorization: 'Bearer unknown' },
      'The access token is invalid or expired.',
      'authentication-invalid-access-token',
    ],
  ])('%j answer 401', async (headers, title, slug) => {
    const answer = await refused(headers);
    expect(answer.json).toEqual({ type: typeOf(slug), title, status: 401 });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('6000');
  });

  it('of a production key do not work before the account is upgraded', async () => {
    const answer = await server.call('GET', '/live-streams', { key: productionKey });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({
      title: 'The API key is invalid.',
      detail: expect.stringContaining('upgraded'),
    });
  });

  it('come before the body is looked at', async () => {
    expect((await server.call('POST', '/live-streams', { key: null, body: 'not json' })).status).toBe(401);
  });

  it('reach only their own project', async () => {
    const upgraded = await startApi({ isUpgraded: true });
    try {
      const { json } = await upgraded.call('POST', '/live-streams', { body: { name: 'mine' } });
      const foreign = await upgraded.call('GET', `/live-streams/${json.liveStreamId}`, {
        key: productionKey,
      });
      expect(foreign.status).toBe(404);
      expect(foreign.json.name).toBe('liveStreamId');
      const list = await upgraded.call('GET', '/live-streams', { key: productionKey });
      expect(list.json.pagination.itemsTotal).toBe(0);
      for (const method of ['PATCH', 'DELETE']) {
        const path = `/live-streams/${json.liveStreamId}`;
        expect((await upgraded.call(method, path, { key: productionKey, body: {} })).status).toBe(404);
      }
      expect((await upgraded.call('GET', `/live-streams/${json.liveStreamId}`)).status).toBe(200);
    } finally {
      await upgraded.stop();
    }
  });
});

describe('a body', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'nonsense'])(
    'that is JSON is read although its type says %s',
    async type => {
      const answer = await server.call('POST', '/live-streams', {
        body: '{"name":"a"}',
        headers: { 'content-type': type },
      });
      expect(answer.status).toBe(200);
    },
  );

  it.each([
    ['', 'empty'],
    ['{"name":', 'not valid JSON'],
    ['[]', 'object'],
    ['"text"', 'object'],
    ['null', 'object'],
    ['{"name":"\\ud800"}', 'surrogate'],
    ['{"__proto__":{"public":false},"name":"a"}', '__proto__'],
    [`{"name":${'['.repeat(40)}${']'.repeat(40)}}`, 'deeply'],
    [`${'['.repeat(4_000)}${']'.repeat(4_000)}`, 'object'],
    [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, 'more than 5000 values'],
    [`{"name":[${'1,'.repeat(5_000)}1]}`, 'more than 5000 values'],
  ])('is refused when it is wrong: %#', async (body, detail) => {
    const answer = await server.call('POST', '/live-streams', { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ type: typeOf('invalid-payload'), title: 'The payload is invalid.' });
    expect(answer.json.detail).toContain(detail);
  });

  it('of broken UTF-8 is refused', async () => {
    const response = await fetch(`${server.baseUrl}/live-streams`, {
      method: 'POST',
      headers: { authorization: basic(sandboxKey) },
      body: Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]),
    });
    expect(response.status).toBe(400);
  });

  it('of more than a mebibyte answers 413, whether its length is told or not', async () => {
    const text = `{"name":"${'x'.repeat(1_100_000)}"}`;
    expect((await server.call('POST', '/live-streams', { body: text })).status).toBe(413);
    const stream = new Blob([text]).stream();
    const response = await fetch(`${server.baseUrl}/live-streams`, {
      method: 'POST',
      headers: { authorization: basic(sandboxKey) },
      body: stream,
      duplex: 'half',
    } as RequestInit);
    expect(response.status).toBe(413);
  });

  it('comes before the resource, and the resource before validation', async () => {
    const path = '/live-streams/li0000000000000000000000';
    expect((await server.call('PATCH', path, { body: 'x' })).json.title).toBe('The payload is invalid.');
    const missing = await server.call('PATCH', path, { body: { nonsense: 1 } });
    expect(missing.json).toEqual({
      type: typeOf('resource-not-found'),
      title: 'The requested resource could not be found.',
      status: 404,
      name: 'liveStreamId',
    });
  });
});

describe('validation', () => {
  it('lists a hundred bad fields and counts the rest, so that a short answer meets a long body', async () => {
    const body = Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [index.toString(36), 1]));
    const answer = await server.call('POST', '/live-streams', { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ name: 'name', detail: '4001 attributes were refused.' });
    expect(answer.json.problems).toHaveLength(100);
    expect((await server.call('POST', '/auth/api-key', { key: null, body })).status).toBe(413);
  });

  it('reports every bad field of body and query at once', async () => {
    const answer = await server.call('POST', '/live-streams?extra=1', {
      body: {
        public: 'yes',
        playerId: '',
        colour: 'red',
        restreams: [
          { name: '', serverUrl: 'rtmp://host', streamKey: null },
          { name: 'b', serverUrl: 'http://x/app' },
        ],
      },
    });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      type: typeOf('invalid-attribute'),
      title: 'Invalid attributes.',
      status: 400,
      name: 'extra',
      detail: '10 attributes were refused.',
    });
    const told = Object.fromEntries(
      answer.json.problems.map((problem: { name: string; detail?: string; title: string }) => [
        problem.name,
        problem.detail ?? problem.title,
      ]),
    );
    expect(told).toEqual({
      extra: 'This field was not expected.',
      name: 'This attribute is required.',
      public: 'This value must be of type boolean.',
      playerId: 'This value should not be blank.',
      colour: 'This field was not expected.',
      'restreams[0][name]': 'This value should not be blank.',
      'restreams[0][serverUrl]': 'Missing app name: [rtmp|rtmps]://[host]/[app name].',
      'restreams[0][streamKey]': 'This value should not be null.',
      'restreams[1][serverUrl]':
        'RTMP URL should have the following format: [rtmp|rtmps]://[host]/[app name]. ' +
        'SRT URL should have the following format: srt://[host]:[port]?latency=[milliseconds].',
      'restreams[1][streamKey]': 'This value should not be blank.',
    });
  });

  it('says which attribute is missing when that is all', async () => {
    const answer = await server.call('POST', '/live-streams', { body: {} });
    expect(answer.json).toEqual({
      type: typeOf('attribute-required'),
      title: 'This attribute is required.',
      status: 400,
      name: 'name',
      problems: [{ type: typeOf('attribute-required'), title: 'This attribute is required.', name: 'name' }],
    });
  });
});

describe('rate limits', () => {
  it('are told on every answer', async () => {
    for (const path of ['/live-streams', '/nothing', '/health/live', '/openapi.json']) {
      const { headers } = await server.call('GET', path);
      for (const name of ['limit', 'remaining', 'retry-after']) {
        expect(headers.get(`x-ratelimit-${name}`), `${path} ${name}`).toMatch(/^\d+$/);
      }
    }
  });

  it('are counted by class, answer 429, and begin anew after a minute', async () => {
    let nowMs = 0;
    const clock = { nowMs: () => Date.now(), monotonicMs: () => nowMs };
    const limited = await startApi({ clock, rateLimits: { uploads: 1, writes: 1, reads: 2 } });
    try {
      const first = await limited.call('GET', '/live-streams');
      expect(first.headers.get('x-ratelimit-limit')).toBe('2');
      expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
      nowMs = 20_000;
      expect((await limited.call('GET', '/live-streams')).headers.get('x-ratelimit-retry-after')).toBe('40');
      const third = await limited.call('GET', '/live-streams');
      expect(third.status).toBe(429);
      expect(third.json.title).toBe('Too many requests.');
      expect(third.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(third.headers.get('retry-after')).toBe('40');
      expect((await limited.call('POST', '/live-streams', { body: { name: 'a' } })).status).toBe(200);
      expect((await limited.call('POST', '/live-streams', { body: 'x' })).status).toBe(429);
      // Tokens are rows: whoever asks for them, in whatever way, writes.
      const tokens = await limited.call('POST', '/auth/api-key', {
        key: null,
        body: { apiKey: sandboxKey },
      });
      expect(tokens.status).toBe(429);
      expect(tokens.headers.get('retry-after')).toBe('60');
      expect(tokens.headers.get('x-ratelimit-remaining')).toBe('0');
      nowMs = 60_000;
      expect((await limited.call('GET', '/live-streams')).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });

  it('of 0 are none, and the headers stay', async () => {
    const free = await startApi({ rateLimits: { uploads: 0, writes: 0, reads: 0 } });
    try {
      const { headers, status } = await free.call('GET', '/live-streams');
      expect(status).toBe(200);
      expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    } finally {
      await free.stop();
    }
  });
});
