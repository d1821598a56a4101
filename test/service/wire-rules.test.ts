import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApiDocument, operationsOf, responseAt } from '../../scripts/api-document.ts';
import { type ApiReply, sandboxKey } from '../support/start-api.ts';
import { startWireApi, type WireApi } from './wire-calls.ts';

const document = await buildApiDocument();
/** Operations that are not JSON over plain HTTP. */
const others = new Set([
  ...['GET /events', 'GET /metrics', 'GET /watermarks/{watermarkId}/image', 'GET /videos/{videoId}/source'],
  ...['GET /health/probe/echo', 'GET /health/probe/stream'],
]);
const operations = operationsOf(document)
  .filter(
    ({ method, path, operation }) =>
      Object.values(operation.responses).some(
        response => responseAt(document, response).headers?.['X-Request-Id'] !== undefined,
      ) && !others.has(`${method} ${path}`),
  )
  .map(({ method, path, operation }) => ({ name: `${method} ${path}`, method, path, operation }));
const keyed = operations.filter(({ operation }) =>
  operation.security.some(scheme => Object.hasOwn(scheme, 'apiKey')),
);

let server: WireApi;
/** Answer of each operation that succeeded. */
const answers = new Map<string, ApiReply>();

beforeAll(async () => {
  server = await startWireApi();
  for (const { name, method } of operations) {
    const { path, body, cookie } = await callOf(name);
    answers.set(name, await send(method, path, body, cookieHeader(cookie)));
  }
});
afterAll(() => server.stop());

async function callOf(name: string) {
  const call = server.calls[name];
  if (call === undefined) throw new Error(`wire-calls.ts does not say how ${name} succeeds`);
  return call();
}

function cookieHeader(cookie: string | undefined): Record<string, string> {
  return cookie === undefined ? {} : { cookie };
}

/** Sends a request with what clients send about themselves, and a content type that says nothing of JSON. */
function send(method: string, path: string, body?: object, more: Record<string, string> = {}, key?: null) {
  const headers = {
    ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'text/plain' }),
    'av-origin-client': 'php:1.2.3',
    'av-origin-app': 'harbour:1',
    'av-origin-sdk': 'kit:4.5',
    ...more,
  };
  const options = { headers, body, ...(key === null ? { key } : {}) };
  return server.call(method, path, options);
}

/** Everything in JSON bodies of answers, by where it is; `[]` stands for any place in a list. */
function* valuesOf(value: unknown, at: string): Generator<[at: string, value: unknown]> {
  yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    yield* valuesOf(inner, Array.isArray(value) ? `${at}[]` : `${at}.${key}`);
  }
}
const allValues = () =>
  [...answers]
    .filter(([name]) => name !== 'GET /openapi.json')
    .flatMap(([name, { json }]) =>
      json === undefined ? [] : [...valuesOf(json, '')].map(([at, value]) => [name, at, value] as const),
    );

describe('every operation', () => {
  it('succeeds with the status that the document names first, whatever the type of its JSON body', () => {
    const wrong = operations
      .map(({ name, operation }) => [name, operation, answers.get(name)!] as const)
      .filter(([, { responses }, { status }]) => String(status) !== Object.keys(responses)[0])
      .map(([name, , { status, text }]) => `${name}: ${status} ${text}`);
    expect(wrong).toEqual([]);
  });

  it('answers with exactly application/json, or with no content type and nothing', () => {
    for (const [name, { text, headers, status }] of answers) {
      const expected = text === '' ? null : 'application/json';
      expect([name, headers.get('content-type')]).toEqual([name, expected]);
      if (status === 204 || status === 202) expect([name, text]).toEqual([name, '']);
    }
  });

  it('tells dates as ATOM in UTC', () => {
    const dates = allValues().filter(
      ([, at, value]) => typeof value === 'string' && /(At|from|to)$/.test(at),
    );
    expect([...new Set(dates.map(([, at]) => at.split('.').at(-1)))]).toEqual(
      expect.arrayContaining([
        ...['createdAt', 'updatedAt', 'publishedAt', 'discardedAt', 'deletesAt', 'expiresAt'],
        ...['emittedAt', 'from', 'to'],
      ]),
    );
    const wrong = dates.filter(
      ([, , value]) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/.test(String(value)),
    );
    expect(wrong).toEqual([]);
    // Nothing else looks like a date, but whole days and the time of a probe.
    const strays = allValues().filter(
      ([, at, value]) =>
        typeof value === 'string' &&
        at !== '.bandwidth.days[].date' &&
        at !== '.time' &&
        /^\d{4}-\d\d-\d\d/.test(value) &&
        !dates.some(([, , date]) => date === value),
    );
    expect(strays).toEqual([]);
  });

  it('leaves unset fields out, but for those that may be null', () => {
    const nulls = allValues().filter(([, , value]) => value === null);
    const places = new Set(nulls.map(([, at]) => at.replace(/^\.data\[\]/, '')));
    const nullable = [
      ...['languageOrigin', 'discardedAt', 'deletesAt', 'assets'],
      ...['assets.logo', 'assets.link', 'ingest.filesize', 'ingest.receivedParts.total'],
      ...['width', 'height', 'bitrate', 'duration', 'framerate', 'samplerate'].map(
        name => `encoding.metadata.${name}`,
      ),
      ...['videoCodec', 'audioCodec', 'aspectRatio'].map(name => `encoding.metadata.${name}`),
      // Attributes of an audio track.
      ...['language', 'channels', 'codec'],
      // The retention of an account.
      'keepVideosDays',
      // Hooks.
      'play',
      'playbackPolicy',
      // Protocols that the server does not offer.
      ...['ports.rtmp', 'ports.rtmps', 'ports.srt', 'ports.webrtc'],
    ].map(name => `.${name}`);
    expect([...places].filter(place => !nullable.includes(place))).toEqual([]);
    const empty = nulls.filter(([name, at]) => at === '.assets' && !name.includes('/discarded/'));
    expect(empty).toEqual([]);
  });

  it('tells lists and objects apart also when they are empty', () => {
    const lists = new Set(
      allValues().flatMap(([, at, value]) => (Array.isArray(value) ? at.replace(/^.*\./, '') : [])),
    );
    const known = [
      ...['data', 'links', 'tags', 'metadata', 'restreams', 'alarms', 'events', 'qualities', 'results'],
      'receivedBytes',
      ...[
        'takeaways',
        'attempts',
        'checks',
        'parts',
        'environments',
        'days',
        'changed',
        'programs',
        'warnings',
        'renditions',
        'next',
        'additionalQualities',
        'codecs',
        'scopes',
        'accounts',
        'allProjects',
        'recoveryCodes',
        'passkeys',
        'sessions',
        'pubKeyCredParams',
        'excludeCredentials',
        'hints',
        'settings',
        'words',
        'findings',
        'lines',
      ],
    ];
    expect([...lists].filter(name => !known.includes(name))).toEqual([]);
    // The facts of a file are an object, unlike the metadata of a video.
    const facts = allValues().filter(([, at]) => at === '.encoding.metadata');
    expect(facts.length).toBeGreaterThan(0);
    expect(facts.filter(([, , value]) => Array.isArray(value))).toEqual([]);
  });

  it('writes whole numbers as integers, and fractions nowhere but in rates', () => {
    for (const [name, { text }] of answers) {
      if (!text.startsWith('{') || name === 'GET /openapi.json') continue;
      JSON.parse(text, (key, value, context?: { source?: string }) => {
        if (typeof value !== 'number') return value;
        const isWhole = /^-?\d+$/.test(context?.source ?? '');
        expect([name, key, context?.source, isWhole]).toEqual([name, key, context?.source, true]);
        return value;
      });
    }
  });

  it('tells about rate limits and lets pages of any origin read', () => {
    for (const [name, { headers }] of answers) {
      for (const header of ['limit', 'remaining', 'retry-after']) {
        expect([name, headers.get(`x-ratelimit-${header}`)]).toEqual([name, expect.stringMatching(/^\d+$/)]);
      }
      expect([name, headers.get('access-control-allow-origin')]).toEqual([name, '*']);
    }
  });

  it('may be asked about by a page first, without credentials', async () => {
    for (const { name, path } of operations) {
      const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
      const answer = await send('OPTIONS', path.replaceAll(/\{\w+\}/g, 'x'), undefined, headers, null);
      expect([name, answer.status, answer.text]).toEqual([name, 204, '']);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('content-type')).toBeNull();
      const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
      expect(allowed).toEqual(
        expect.arrayContaining([
          ...['authorization', 'content-type', 'content-range', 'av-origin-client', 'av-origin-app'],
          ...['av-origin-sdk', 'x-token-session'],
        ]),
      );
      expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    }
  });

  it('answers whatever the client accepts, and whatever it says of itself', async () => {
    for (const { name, method } of operations.filter(({ method }) => method === 'GET')) {
      const { path, cookie } = await callOf(name);
      for (const accept of ['application/json, */*;q=0.8', 'text/csv', 'application/vnd.api+json;q=0']) {
        const about = {
          accept,
          'av-origin-client': 'no version',
          'av-origin-app': '',
          'av-origin-sdk': '::',
          ...cookieHeader(cookie),
        };
        const { status, headers } = await send(method, path, undefined, about);
        expect([name, accept, status, headers.get('content-type')]).toEqual([
          ...[name, accept, 200, 'application/json'],
        ]);
      }
    }
  });

  it('refuses methods that its path does not have with 405, before credentials', async () => {
    for (const path of new Set(operations.map(({ path }) => path))) {
      const has = operations.filter(entry => entry.path === path).map(({ method }) => method);
      const method = ['PUT', 'DELETE', 'PATCH'].find(name => !has.includes(name))!;
      const answer = await send(method, path.replaceAll(/\{\w+\}/g, 'x'), undefined, {}, null);
      expect([path, answer.status, answer.json.title]).toEqual([
        ...[path, 405, 'Method is not allowed for this route.'],
      ]);
      expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    }
  });
});

describe('every operation that needs a key', () => {
  const cases: [Record<string, string>, string, string][] = [
    [{}, 'The "Authorization" header is missing.', 'missing-authorization-header'],
    ...['Basic', 'Digest abc', 'Basic ???', 'Bearer ', `Basic ${btoa(sandboxKey)}`].map(
      (authorization): [Record<string, string>, string, string] => [
        { authorization },
        'The "Authorization" header value is invalid.',
        'invalid-authorization-header-value',
      ],
    ),
    [{ authorization: `Basic ${btoa('unknown:')}` }, 'The API key is invalid.', 'invalid-api-key'],
    [{ authorization: 'Bearer unknown' }, 'The access token is invalid or expired.', 'invalid-access-token'],
  ];

  it.each(cases)('answers 401 with %j', async (headers, title, slug) => {
    for (const { name, method, path } of keyed) {
      const answer = await send(method, path.replaceAll(/\{\w+\}/g, 'x'), undefined, headers, null);
      const { status, json, headers: told } = answer;
      expect([name, status, json.title]).toEqual([name, 401, title]);
      expect(json.type.endsWith(`/authentication-${slug}`)).toBe(true);
      expect(told.get('x-ratelimit-limit')).toMatch(/^\d+$/);
      expect(told.get('access-control-allow-origin')).toBe('*');
    }
  });

  it('takes an access token instead', async () => {
    const token = (await server.call('POST', '/auth/api-key', { body: { apiKey: sandboxKey } })).json;
    const headers = { authorization: `${token.token_type} ${token.access_token}` };
    for (const { name, method } of keyed.filter(({ method }) => method === 'GET')) {
      const { path } = await callOf(name);
      expect([name, (await send(method, path, undefined, headers, null)).status]).toEqual([name, 200]);
    }
  });
});

describe('an id in a path', () => {
  const named = keyed.filter(({ method, path }) => method === 'GET' && /\{\w+(Id|Token)\}/.test(path));

  it('may be percent-encoded', async () => {
    for (const { name } of named) {
      const { path } = await callOf(name);
      const encoded = path.replace(
        /[A-Za-z0-9_]{24,}/g,
        id => `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`,
      );
      expect(encoded).not.toBe(path);
      expect([name, (await send('GET', encoded)).status]).toEqual([name, 200]);
    }
  });

  it('is case sensitive, and names the parameter when it is not there', async () => {
    for (const { name, path: pattern } of named) {
      const { path } = await callOf(name);
      const parameters = [...pattern.matchAll(/\{(\w+(?:Id|Token))\}/g)].map(([, parameter]) => parameter!);
      const swapped = path.replace(/[A-Za-z0-9_]{24,}(?!.*[A-Za-z0-9_]{24,})/, swapCase);
      const { status, json } = await send('GET', swapped);
      expect([name, status, json.title]).toEqual([name, 404, 'The requested resource could not be found.']);
      expect(parameters).toContain(json.name);
    }
  });
});

function swapCase(text: string): string {
  return [...text]
    .map(letter => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}
