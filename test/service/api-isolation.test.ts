import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsByTable } from '../support/sql.ts';
import { type ApiReply, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { fileForm, noise } from './upload-fixture.ts';

const strangerKey = 'key-of-another-account';

let server: TestApi;
/** Ids of the first account's sandbox. */
let owned: Record<'video' | 'empty' | 'begun' | 'discarded' | 'stream', string>;

beforeAll(async () => {
  server = await startApi({
    isUpgraded: true,
    videos: { restoreDays: () => 90 },
    uploads: { sourceReady: async () => {} },
  });
  await server.addAccount({ isUpgraded: true, sandboxKey: strangerKey });

  const made = async (path: string, body: unknown) => (await server.call('POST', path, { body })).json;
  const create = async (title: string) =>
    (
      await made('/videos', {
        title,
        description: 'of the owner',
        tags: ['harbour'],
        metadata: [{ key: 'shot', value: '12' }],
        mp4Support: true,
      })
    ).videoId as string;
  const video = await create('Harbour');
  await send(video, sandboxKey);
  const begun = await create('Half there');
  await send(begun, sandboxKey, 'part 1/2', noise(5_242_880));
  const discarded = await create('Thrown away');
  await server.call('DELETE', `/videos/${discarded}`);
  owned = {
    video,
    begun,
    discarded,
    empty: await create('Nothing yet'),
    stream: (await made('/live-streams', { name: 'On air' })).liveStreamId,
  };
});
afterAll(() => server.stop());

function send(videoId: string, key: string, range?: string, bytes = noise(100)): Promise<ApiReply> {
  return server.call('POST', `/videos/${videoId}/source`, {
    body: fileForm(bytes),
    key,
    headers: range === undefined ? undefined : { 'content-range': range },
  });
}

/** Returns all rows and files, except for those that record the use of keys. */
async function everything(): Promise<unknown> {
  const rows = await rowsByTable(server.database, name => name !== 'api_keys');
  const files = ['vod', 'uploads', 'watermarks', 'incoming'].map(folder =>
    readdir(join(server.dataDir, folder), { recursive: true }).catch(() => []),
  );
  return { rows, files: await Promise.all(files) };
}

// Tries operations that need more than ids: the walk over the API document tries the others.
describe.each([
  ['the other project of the same account', productionKey],
  ['another account', strangerKey],
])('what a project has is not there for %s', (_who, key) => {
  it('a source cannot be sent, begun or gone on with', async () => {
    const before = await everything();
    for (const [videoId, range] of [
      [owned.empty, undefined],
      [owned.empty, 'part 1/1'],
      [owned.begun, 'part 2/2'],
      [owned.begun, undefined],
      [owned.video, undefined],
      [owned.discarded, undefined],
    ] as const) {
      expect([range, (await send(videoId, key, range)).status]).toEqual([range, 404]);
    }
    expect(await everything()).toEqual(before);
  });

  it('an upload token does not reach a video, by its id or by going on with its parts', async () => {
    const { json } = await server.call('POST', '/upload-tokens', { body: {}, key });
    const upload = (range: string | undefined, videoId?: string) =>
      server.call('POST', `/upload?token=${json.token}`, {
        key: null,
        body: fileForm(noise(100), videoId === undefined ? {} : { before: { videoId } }),
        headers: range === undefined ? undefined : { 'content-range': range },
      });
    const before = await everything();
    expect((await upload(undefined, owned.empty)).status).toBe(404);
    expect((await upload('part 2/2', owned.begun)).status).toBe(404);
    expect(await everything()).toEqual(before);
    // The upload without an id is a new video of its own project.
    const own = await upload('part 2/2');
    expect(own.status).toBe(201);
    expect(Object.values(owned)).not.toContain(own.json.videoId);
    expect((await server.call('GET', `/videos/${own.json.videoId}`)).status).toBe(404);
    expect((await server.call('GET', `/videos/${own.json.videoId}`, { key })).status).toBe(200);
    expect((await server.call('DELETE', `/videos/${own.json.videoId}`, { key })).status).toBe(204);
    expect((await server.call('DELETE', `/upload-tokens/${json.token}`, { key })).status).toBe(204);
  });
});

it('what is asked for with an id of its own kind only is not found by another', async () => {
  for (const path of [
    `/videos/${owned.stream}`,
    `/videos/${owned.discarded}`,
    `/videos/${owned.discarded}/status`,
    `/discarded/videos/${owned.video}`,
    `/live-streams/${owned.video}`,
    `/upload-tokens/${owned.video}`,
  ]) {
    expect([path, (await server.call('GET', path)).status]).toEqual([path, 404]);
  }
});
