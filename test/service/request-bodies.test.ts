import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApiDocument, operationsOf, resolveReference } from '../../scripts/api-document.ts';
import { formWith } from '../support/images.ts';
import { sandboxKey } from '../support/start-api.ts';
import { startWireApi, type WireApi } from './wire-calls.ts';

const document = await buildApiDocument();
const operations = operationsOf(document).map(({ method, path, operation }) => ({
  name: `${method} ${path}`,
  method,
  operation,
  types: Object.keys(operation.requestBody?.content ?? {}),
}));
/** Operations on resources, which a key reaches. */
const patches = operations.filter(
  ({ method, operation }) =>
    method === 'PATCH' && operation.security.some(scheme => Object.hasOwn(scheme, 'apiKey')),
);
const jsonBodies = operations.filter(({ types }) => types.includes('application/json'));
const forms = operations.filter(({ types }) => types.includes('multipart/form-data'));

let server: WireApi;
beforeAll(async () => {
  server = await startWireApi();
});
afterAll(() => server.stop());

const callOf = async (name: string) => server.calls[name]!();

/** Names of what a JSON body may have. */
function fieldsOf({ operation }: (typeof operations)[number]): string[] {
  const { schema } = operation.requestBody!.content['application/json']! as { schema: { $ref?: string } };
  const resolved = schema.$ref === undefined ? schema : resolveReference(document, schema.$ref);
  return Object.keys((resolved as { properties: object }).properties);
}

describe.each(patches)('$name', patch => {
  const { name } = patch;

  it('changes nothing when nothing is sent', async () => {
    const { path } = await callOf(name);
    const isWatermark = name.startsWith('PATCH /watermarks');
    const before = await server.call('GET', isWatermark ? '/watermarks' : path.replace('/thumbnail', ''));
    const { status, json } = await server.call('PATCH', path, { body: {} });
    if (name.endsWith('/thumbnail')) {
      expect([status, json.title, json.name]).toEqual([400, 'This attribute is required.', 'timecode']);
      return;
    }
    expect(status).toBe(name.startsWith('PATCH /summaries') ? 201 : 200);
    const { updatedAt: _, ...told } = json;
    if (isWatermark) expect(before.json.data).toContainEqual(told);
    else expect(before.json).toMatchObject(told);
  });

  it('takes null only for what can be unset, and says what else cannot', async () => {
    const unsettable: Record<string, string[]> = {
      'PATCH /videos/{videoId}': ['playerId', 'language', 'expiresAt', 'playbackPolicy'],
      // Nothing is done with what only old clients send.
      'PATCH /live-streams/{liveStreamId}': [
        ...['playerId', 'qualities', 'record', 'keepRecordingsDays', 'audioTracks', 'source'],
        ...['playbackPolicy', 'startsAt'],
      ],
      'PATCH /players/{playerId}': [
        ...['name', 'language', 'shapeMargin', 'shapeRadius', 'shapeAspect'],
        ...['shapeBackgroundTop', 'shapeBackgroundBottom'],
      ],
      'PATCH /account/api-keys/{keyPairId}': ['name'],
      'PATCH /watermarks/{watermarkId}': ['name'],
      'PATCH /account/channel': ['slug', 'accentColor'],
    };
    const replaced: Record<string, Record<string, unknown>> = {
      'PATCH /videos/{videoId}/audio-tracks/{audioTrackId}': { name: 'Audio 1', language: null },
      'PATCH /account/retention': { keepVideosDays: null },
      'PATCH /account/playback-policy': { playbackPolicy: null },
    };
    const { path } = await callOf(name);
    for (const field of fieldsOf(patch)) {
      const { status, json } = await server.call('PATCH', path, { body: { [field]: null } });
      const replacement = replaced[name]?.[field];
      if (replacement !== undefined) expect([status, json[field]]).toEqual([200, replacement]);
      else if (unsettable[name]?.includes(field)) {
        expect([field, status]).toEqual([field, 200]);
        expect(json).not.toHaveProperty(field);
      } else {
        expect([field, status, json.title, json.name]).toEqual([field, 400, 'Invalid attributes.', field]);
      }
    }
  });

  it('refuses what it does not know', async () => {
    const { path, body } = await callOf(name);
    const { status, json } = await server.call('PATCH', path, { body: { ...body, noSuchField: 1 } });
    expect([status, json.name]).toEqual([400, 'noSuchField']);
    expect(json.problems).toContainEqual(
      expect.objectContaining({ name: 'noSuchField', detail: 'This field was not expected.' }),
    );
  });
});

it('a change replaces lists whole and leaves the rest', async () => {
  for (const [name, first, second] of [
    [
      'PATCH /videos/{videoId}',
      { tags: ['a', 'b'], metadata: [{ key: 'k', value: 'v' }], title: 'Kept' },
      { tags: ['c'], metadata: [] },
    ],
    [
      'PATCH /live-streams/{liveStreamId}',
      { restreams: [{ name: 'n', serverUrl: 'rtmp://h.example/a', streamKey: 'k' }], name: 'Kept' },
      { restreams: [] },
    ],
    [
      'PATCH /summaries/{summaryId}/source',
      { takeaways: ['one', 'two'], abstract: 'Kept' },
      { takeaways: ['three'] },
    ],
  ] as const) {
    const { path } = await callOf(name);
    await server.call('PATCH', path, { body: first });
    await server.call('PATCH', path, { body: second });
    expect((await server.call('GET', path)).json).toMatchObject({ ...first, ...second });
  }
});

describe.each(jsonBodies)('the body of $name', ({ name, method, operation }) => {
  it('is JSON, whatever its content type says', async () => {
    const { path, body, cookie = '' } = await callOf(name);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', cookie };
    expect((await server.call(method, path, { body, headers })).status).toBeLessThan(300);
  });

  it.skipIf(operation.requestBody?.required)('can be left out', async () => {
    const { path, cookie = '' } = await callOf(name);
    expect((await server.call(method, path, { headers: { cookie } })).status).toBeLessThan(300);
  });

  it('is refused when it is none, or no object', async () => {
    const { path, cookie = '' } = await callOf(name);
    const empty = operation.requestBody?.required ? [''] : [];
    for (const body of [...empty, '{', '[]', 'null', '5', '"text"']) {
      const headers = { 'content-type': 'application/json', cookie };
      const { status, json } = await server.call(method, path, { body, headers });
      expect([body, status, json.title]).toEqual([body, 400, 'The payload is invalid.']);
    }
  });
});

describe.each(forms)('the file of $name', ({ name }) => {
  const send = (path: string, body: FormData) => server.call('POST', path, { body });
  /** The file of a request that succeeds. */
  const fileOf = ({ body }: { body?: object }) => [...(body as FormData).values()][0] as File;

  it('is the part with a file name, whatever it is called', async () => {
    for (const field of ['file', 'film.mp4', 'file[]', 'ünï cödé', '']) {
      const call = await callOf(name);
      const form = new FormData();
      form.append(field, fileOf(call), fileOf(call).name);
      const { status, text } = await send(call.path, form);
      expect([field, status, text]).toEqual([field, expect.any(Number), text]);
      expect(status).toBeLessThan(300);
    }
  });

  it.each([true, false])(
    'is refused with an unknown field, whether that comes first (%s)',
    async isBefore => {
      const call = await callOf(name);
      const form = new FormData();
      if (isBefore) form.append('other', 'text');
      form.append('file', fileOf(call), fileOf(call).name);
      if (!isBefore) form.append('other', 'text');
      const { status, json } = await send(call.path, form);
      expect([status, json.title, json.name]).toEqual([400, 'Invalid attributes.', 'other']);
    },
  );

  it('is one, is there, and is not empty', async () => {
    const call = await callOf(name);
    const bytes = Buffer.from(await fileOf(call).arrayBuffer());
    for (const [form, title] of [
      [formWith(['file', bytes]), 'There is no uploaded file in the request.'],
      [
        formWith(['a', bytes, 'a.png'], ['b', bytes, 'b.png']),
        'There is more than one uploaded file in the request.',
      ],
      [formWith(['file', Buffer.alloc(0), 'a.png']), 'The uploaded file is empty.'],
    ] as const) {
      const { status, json } = await send(call.path, form);
      expect([status, json.title, json.name]).toEqual([400, title, 'file']);
    }
  });
});

describe('a part without a file name', () => {
  it.each([
    ['file', 10],
    ['file', 200_000],
    ['film', 10],
  ])('is named in the answer: %s, %d bytes', async (name, bytes) => {
    const { path } = await callOf('POST /videos/{videoId}/source');
    const body = formWith([name, Buffer.alloc(bytes, 'x')]);
    const { status, json } = await server.call('POST', path, { body });
    expect([status, json.name]).toEqual([400, name]);
    expect(json.detail).toContain(
      `The part "${name}" has no file name. Send the file as multipart/form-data with one`,
    );
  });
});

describe('/upload', () => {
  it('needs a token and nothing else, whatever Authorization says', async () => {
    const { path } = await callOf('POST /upload');
    const upload = (to: string, headers: Record<string, string>) =>
      server.call('POST', to, {
        key: null,
        headers,
        body: formWith(['a film', Buffer.from('bytes'), 'a film.mp4']),
      });
    for (const authorization of [
      '',
      'Basic',
      `Basic ${btoa('unknown:')}`,
      `Basic ${btoa(`${sandboxKey}:`)}`,
    ]) {
      const { status, json } = await upload(path, { authorization });
      expect([authorization, status, json.title]).toEqual([authorization, 201, 'a film.mp4']);
    }
    for (const [to, title, slug] of [
      ['/upload', 'The upload token is missing.', 'missing-upload-token'],
      ['/upload?token=', 'The upload token is missing.', 'missing-upload-token'],
      ['/upload?token=unknown', 'The upload token is invalid or expired.', 'invalid-upload-token'],
    ] as const) {
      const { status, json } = await upload(to, {});
      expect([to, status, json.title]).toEqual([to, 401, title]);
      expect(json.type.endsWith(`/authentication-${slug}`)).toBe(true);
    }
  });
});
