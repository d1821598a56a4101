/**
 * Repeats what the integration suites of the official clients of the reference API assert, one test each, over
 * plain HTTP.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formWith, jpegImage, pngImage } from '../support/images.ts';
import { type ApiReply, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { chunkBytes, fileForm, noise } from './upload-fixture.ts';

let server: TestApi;
let authorization: string;

beforeAll(async () => {
  server = await startApi();
  const { json } = await server.call('POST', '/auth/api-key', { key: null, body: { apiKey: sandboxKey } });
  authorization = `${json.token_type} ${json.access_token}`;
});
afterAll(() => server.stop());

/** Calls with a bearer token, as most clients do. */
function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return server.call(method, path, {
    key: null,
    headers: { authorization, ...headers },
    body,
  });
}
const ok = async (method: string, path: string, body?: unknown): Promise<ApiReply['json']> => {
  const { status, text, json } = await call(method, path, body);
  expect([text, status < 300]).toEqual([text, true]);
  return json;
};
const newVideo = async (attributes: object = {}): Promise<string> =>
  (await ok('POST', '/videos', { title: 'Suite', ...attributes })).videoId;
const idsOf = async (query: string): Promise<string[]> =>
  (await ok('GET', `/videos?${query}`)).data.map(({ videoId }: { videoId: string }) => videoId);

/** Sends parts one after the other, the last one naming the total; the last answer. */
async function sendParts(path: string, parts: readonly Buffer[], options: { token?: boolean } = {}) {
  let last: ApiReply | undefined;
  for (const [index, bytes] of parts.entries()) {
    const part = index + 1;
    const range = `part ${part}/${part === parts.length ? part : '*'}`;
    const videoId = options.token && last !== undefined ? { after: { videoId: last.json.videoId } } : {};
    const body = fileForm(bytes, { name: `10m.mp4.part.${part}`, ...videoId });
    last = await call('POST', path, body, { 'content-range': range });
    expect(last.status).toBe(201);
  }
  return last!.json;
}
const threeParts = () => [noise(chunkBytes), noise(chunkBytes), noise(1_000)];

describe('authentication', () => {
  test('POST /auth/api-key returns all four token fields', async () => {
    const token = await ok('POST', '/auth/api-key', { apiKey: sandboxKey });
    expect(token).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      access_token: expect.any(String),
      refresh_token: expect.any(String),
    });
  });

  test('a list without arguments returns data, and answers expose their content type', async () => {
    const { json, headers } = await call('GET', '/videos');
    expect(json.data).toEqual(expect.any(Array));
    expect(headers.get('content-type')).toBe('application/json');
  });
});

describe('uploads', () => {
  test('parts 1 to 3 of an existing video keep its title, and are told in its status', async () => {
    const videoId = await newVideo({ title: 'Keeps its title' });
    const video = await sendParts(`/videos/${videoId}/source`, threeParts());
    expect(video).toMatchObject({ videoId, title: 'Keeps its title' });
    const { ingest } = await ok('GET', `/videos/${videoId}/status`);
    expect(ingest.receivedParts).toEqual({ parts: [1, 2, 3], total: 3 });
    expect(ingest).toMatchObject({ status: 'uploaded', filesize: 2 * chunkBytes + 1_000 });
  });

  test('parts by upload token: the title is the file name of the first part; video and token are deleted', async () => {
    const { token } = await ok('POST', '/upload-tokens', { ttl: 0 });
    const { videoId, title } = await sendParts(`/upload?token=${token}`, threeParts(), { token: true });
    expect(title).toBe('10m.mp4.part.1');
    expect((await call('DELETE', `/videos/${videoId}`)).status).toBe(204);
    expect((await call('DELETE', `/upload-tokens/${token}`)).status).toBe(204);
  });

  test('558 kB in one request, 10 MB in chunks of 5 MiB that say how many they are', async () => {
    const whole = await call('POST', `/videos/${await newVideo()}/source`, fileForm(noise(558_000)));
    expect(whole.status).toBe(201);
    const videoId = await newVideo();
    for (const [part, bytes] of [chunkBytes, 10_000_000 - chunkBytes].entries()) {
      const headers = { 'content-range': `part ${part + 1}/2` };
      const answer = await call('POST', `/videos/${videoId}/source`, fileForm(noise(bytes)), headers);
      expect([answer.status, answer.json.videoId]).toEqual([201, videoId]);
    }
  });

  test('a token upload into a given video keeps its title', async () => {
    const { token } = await ok('POST', '/upload-tokens', {});
    const videoId = await newVideo({ title: 'Given' });
    const body = fileForm(noise(100), { name: 'other.mp4', before: { videoId } });
    const { status, json } = await server.call('POST', `/upload?token=${token}`, { key: null, body });
    expect([status, json.videoId, json.title]).toEqual([201, videoId, 'Given']);
  });
});

describe('videos', () => {
  test('the tags filter is AND, and a removed tag no longer matches', async () => {
    const videoId = await newVideo({ tags: ['general', 'video'] });
    await newVideo({ tags: ['general'] });
    expect(await idsOf('tags[]=general&tags[]=video')).toEqual([videoId]);
    await ok('PATCH', `/videos/${videoId}`, { tags: ['general'] });
    expect(await idsOf('tags[]=general&tags[]=video')).toEqual([]);
  });

  test('the metadata filter is AND', async () => {
    const metadata = [
      { key: 'key1', value: 'key1value1' },
      { key: 'key2', value: 'key2value1' },
    ];
    const videoId = await newVideo({ metadata });
    await newVideo({ metadata: metadata.slice(1) });
    expect(await idsOf('metadata[key1]=key1value1&metadata[key2]=key2value1')).toEqual([videoId]);
    expect(await idsOf('metadata[key1]=key1value1&metadata[key2]=other')).toEqual([]);
    expect((await idsOf('metadata[key2]=key2value1')).length).toBe(2);
  });

  test('the title filter is a substring', async () => {
    const videoId = await newVideo({ title: 'A needle in the hay' });
    expect(await idsOf('title=needle')).toEqual([videoId]);
  });

  test('sortBy=title sorts both ways', async () => {
    const ids = [await newVideo({ title: 'sorted A' }), await newVideo({ title: 'sorted B' })];
    expect(await idsOf('title=sorted&sortBy=title&sortOrder=asc')).toEqual(ids);
    expect(await idsOf('title=sorted&sortBy=title&sortOrder=desc')).toEqual(ids.toReversed());
  });

  test('PATCH of playerId: set, untouched when absent, unset by null', async () => {
    const { playerId } = await ok('POST', '/players', {});
    const path = `/videos/${await newVideo()}`;
    expect(await ok('PATCH', path, { playerId })).toMatchObject({ playerId });
    expect(await ok('PATCH', path, { title: 'Other' })).toMatchObject({ playerId });
    expect(await ok('PATCH', path, { playerId: null })).not.toHaveProperty('playerId');
  });

  test('the status right after creation has no ingest, and is not playable', async () => {
    const status = await ok('GET', `/videos/${await newVideo()}/status`);
    expect(status).not.toHaveProperty('ingest');
    expect(status.encoding).toMatchObject({ playable: false, qualities: [] });
  });

  test('a thumbnail and a timecode are taken by a video that has no source yet', async () => {
    const path = `/videos/${await newVideo()}/thumbnail`;
    const sent = await call('POST', path, formWith(['test.jpg', jpegImage, 'test.jpg']));
    expect(sent.status).toBe(200);
    expect((await call('PATCH', path, { timecode: '00:15:22.05' })).status).toBe(200);
  });

  test('captions are uploaded without a source, read, and made the default', async () => {
    const path = `/videos/${await newVideo()}/captions`;
    const sent = await call('POST', `${path}/en`, formWith(['en.vtt', Buffer.from('WEBVTT\n'), 'en.vtt']));
    expect([sent.status, sent.json.srclang, sent.json.default]).toEqual([200, 'en', false]);
    expect(await ok('GET', `${path}/en`)).toMatchObject({ srclang: 'en', default: false });
    expect(await ok('PATCH', `${path}/en`, { default: true })).toMatchObject({
      srclang: 'en',
      default: true,
    });
  });

  test('a missing language of captions and chapters is 404', async () => {
    const path = `/videos/${await newVideo()}`;
    for (const kind of ['captions', 'chapters']) {
      expect([kind, (await call('GET', `${path}/${kind}/fr`)).status]).toEqual([kind, 404]);
    }
  });

  test('a watermark is uploaded as JPEG, listed, burned into a video, and deleted after it', async () => {
    const { watermarkId } = await ok('POST', '/watermarks', formWith(['mark.jpg', jpegImage, 'mark.jpg']));
    expect(watermarkId).toEqual(expect.any(String));
    const { data } = await ok('GET', '/watermarks');
    expect(data).toContainEqual(expect.objectContaining({ watermarkId }));
    const watermark = { id: watermarkId, top: '0px', left: '0px', width: '100px', height: '100px' };
    const videoId = await newVideo({ watermark });
    for (const path of [`/videos/${videoId}`, `/watermarks/${watermarkId}`]) {
      expect((await call('DELETE', path)).status).toBe(204);
    }
  });
});

describe('player themes', () => {
  test('a new one has its texts white and an object of assets without a logo', async () => {
    const theme = await ok('POST', '/players', { name: 'Only a name' });
    expect(theme).toMatchObject({ text: 'rgba(255, 255, 255, 1)', assets: { logo: null } });
  });

  test('colours and flags are changed', async () => {
    const { playerId } = await ok('POST', '/players', {});
    const changes = { text: 'rgba(255, 0, 0, .95)', enableControls: false, forceLoop: true };
    expect(await ok('PATCH', `/players/${playerId}`, changes)).toMatchObject(changes);
  });

  test('a logo has its link as it was sent, also when that is no address, and both are null after it', async () => {
    const { playerId } = await ok('POST', '/players', {});
    for (const link of ['https://brand.example.net', '/tmp/some/file path.png']) {
      const form = formWith(['logo.png', pngImage(10, 10), 'logo.png'], ['link', Buffer.from(link)]);
      expect((await ok('POST', `/players/${playerId}/logo`, form)).assets.link).toBe(link);
    }
    expect((await call('DELETE', `/players/${playerId}/logo`)).status).toBe(204);
    expect((await ok('GET', `/players/${playerId}`)).assets).toEqual({ logo: null, link: null });
  });
});

test('addresses of thumbnails end in thumbnail.jpg, of live streams also after theirs was deleted', async () => {
  const videoId = await newVideo();
  const { liveStreamId } = await ok('POST', '/live-streams', { name: 'Pier cam' });
  const image = () => formWith(['a.png', pngImage(4, 4), 'a.png']);
  for (const { assets } of [
    await ok('GET', `/videos/${videoId}`),
    await ok('POST', `/videos/${videoId}/thumbnail`, image()),
    await ok('GET', `/live-streams/${liveStreamId}`),
    await ok('POST', `/live-streams/${liveStreamId}/thumbnail`, image()),
    await ok('DELETE', `/live-streams/${liveStreamId}/thumbnail`),
  ]) {
    expect(assets.thumbnail.split('/').at(-1)).toBe('thumbnail.jpg');
  }
});

test('three webhooks may have the same address, which need not be reachable', async () => {
  const hook = { url: 'https://unreachable.example/hook', events: ['video.encoding.quality.completed'] };
  const ids = new Set<string>();
  for (let made = 0; made < 3; made += 1) ids.add((await ok('POST', '/webhooks', hook)).webhookId);
  const { data } = await ok('GET', '/webhooks?events=video.encoding.quality.completed');
  expect(new Set(data.map(({ webhookId }: { webhookId: string }) => webhookId))).toEqual(ids);
});
