import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { runSql } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';

const day = 24 * 3_600_000;
let nowMs = Date.UTC(2026, 2, 4);
let aheadMs = 0;
const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => performance.now() + aheadMs };

let server: TestApi;
let removed: string[] = [];
let fault: Error | undefined;
beforeAll(async () => {
  server = await startApi({
    clock,
    videos: {
      restoreDays: () => 90,
      async removed(videoId) {
        if (fault !== undefined) throw fault;
        removed.push(videoId);
      },
    },
  });
});
beforeEach(async () => {
  removed = [];
  for (const table of ['videos', 'removed_videos']) await runSql(server.database, `DELETE FROM ${table}`);
});
afterAll(() => server.stop());

const create = async (body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour', ...body } })).json;
const discard = (videoId: string) => server.call('DELETE', `/videos/${videoId}`);
const idsOf = async (path: string) =>
  (await server.call('GET', path)).json.data.map((video: { videoId: string }) => video.videoId);
/** Has the files of a video counted as so many bytes. */
async function storeBytes({ database }: TestApi, videoId: string, bytes: number): Promise<void> {
  const text = 'INSERT INTO stored_videos (video_id, project_id, source_bytes) VALUES (?, ?, ?)';
  await runSql(database, text, videoId, await sandboxProjectOf(database), BigInt(bytes));
}

describe('a video that is removed for good', () => {
  it('is restorable before for as long as the account is told', async () => {
    const { json } = await server.call('GET', '/account');
    expect(json.limits.videoRestoreDays).toBe(90);
  });

  it('loses its files at the next chance where they stayed behind', async () => {
    const { videoId } = await create();
    await discard(videoId);
    fault = new Error('the disk is gone');
    await expect(server.api.videos.removal.purgeDiscarded(nowMs + 366 * day)).rejects.toBe(fault);
    await expect(server.api.videos.removal.removeOrphanedFiles()).rejects.toBe(fault);
    fault = undefined;
    expect(await server.api.videos.removal.purgeDiscarded(nowMs + 366 * day)).toBe(0);
    expect(await server.api.videos.removal.removeOrphanedFiles()).toBe(1);
    expect(removed).toEqual([videoId]);
    expect(await server.api.videos.removal.removeOrphanedFiles()).toBe(0);
  });
});

describe('a video that is deleted where it can be restored', () => {
  it('is hidden, shown among the discarded, and keeps all that belongs to it', async () => {
    const made = await create({ public: false, tags: ['a'] });
    nowMs += day;
    expect((await discard(made.videoId)).status).toBe(204);
    expect(removed).toEqual([]);
    expect(await idsOf('/videos')).toEqual([]);
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      expect((await server.call(method, `/videos/${made.videoId}`, { body })).status).toBe(404);
    }
    const shown = {
      ...made,
      discarded: true,
      discardedAt: '2026-03-05T00:00:00+00:00',
      deletesAt: '2026-06-03T00:00:00+00:00',
      assets: null,
    };
    expect((await server.call('GET', `/discarded/videos/${made.videoId}`)).json).toEqual(shown);
    expect((await server.call('GET', '/discarded/videos')).json.data).toEqual([shown]);
  });

  it('comes back as it was', async () => {
    const made = await create({ tags: ['a'] });
    await discard(made.videoId);
    const path = `/discarded/videos/${made.videoId}`;
    const answer = await server.call('PATCH', path, { body: { discarded: false } });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      discarded: false,
      discardedAt: null,
      deletesAt: null,
      assets: made.assets,
    });
    expect(await idsOf('/videos?tags[]=a')).toEqual([made.videoId]);
    expect(await idsOf('/discarded/videos')).toEqual([]);
    expect((await server.call('GET', path)).status).toBe(404);
  });

  it.each([
    [{ discarded: true }, 'Value must be false.'],
    [{ discarded: 'false' }, 'This value must be of type boolean.'],
    [{ discarded: false, title: 'x' }, 'This field was not expected.'],
  ])('is not brought back by %j', async (body, detail) => {
    const made = await create();
    await discard(made.videoId);
    const answer = await server.call('PATCH', `/discarded/videos/${made.videoId}`, { body });
    expect(answer.status).toBe(400);
    expect(answer.json.problems[0]).toMatchObject({ detail });
    expect(await idsOf('/discarded/videos')).toEqual([made.videoId]);
  });

  it('is deleted at once, discarded or not, where that is asked for', async () => {
    const [kept, discarded] = [await create(), await create()];
    await discard(discarded.videoId);
    expect((await server.call('DELETE', `/discarded/videos/${discarded.videoId}`)).status).toBe(405);
    for (const { videoId } of [discarded, kept]) {
      const path = `/videos/${videoId}?permanently=`;
      expect((await server.call('DELETE', `${path}yes`)).status).toBe(400);
      expect((await server.call('DELETE', `${path}true`)).status).toBe(204);
      expect((await server.call('DELETE', `${path}true`)).status).toBe(404);
    }
    expect(removed).toEqual([discarded.videoId, kept.videoId]);
    expect(await idsOf('/discarded/videos')).toEqual([]);
  });

  it('is removed before its time, oldest first, where an upload has too little room on the disk', async () => {
    const ids: string[] = [];
    for (const title of ['first', 'second', 'third']) {
      const { videoId } = await create({ title });
      await discard(videoId);
      nowMs += day;
      await storeBytes(server, videoId, 1_000);
      ids.push(videoId);
    }
    const kept = (await create({ title: 'not discarded' })).videoId;
    let missing = 3_001;
    const makeRoom = () => server.api.videos.removal.makeRoom(async () => missing);
    await makeRoom();
    expect(removed).toEqual([]);
    const canMakeRoom = (bytes: number) => server.api.videos.removal.canMakeRoom(bytes);
    expect([await canMakeRoom(3_000), await canMakeRoom(3_001)]).toEqual([true, false]);
    missing = 1_001;
    await makeRoom();
    expect(removed).toEqual(ids.slice(0, 2));
    // Nothing came free: something else holds the files, such as a backup.
    missing = 500;
    await makeRoom();
    expect(removed).toEqual(ids.slice(0, 2));
    aheadMs += day;
    missing = 0;
    await makeRoom();
    expect(await idsOf('/discarded/videos')).toEqual(ids.slice(2));
    missing = 500;
    await makeRoom();
    expect(await idsOf('/discarded/videos')).toEqual([]);
    expect(await idsOf('/videos')).toEqual([kept]);
  });

  it('makes room before an upload is refused', async () => {
    const tight = await startApi({
      videos: { restoreDays: () => 7 },
      uploads: { minFreeBytes: () => Number.MAX_SAFE_INTEGER / 2 },
    });
    try {
      const [old, target] = [0, 1].map(() => tight.call('POST', '/videos', { body: { title: 'a' } }));
      const { videoId } = (await old!).json;
      const { json } = await tight.call('GET', '/account');
      expect(json.limits.videoRestoreDays).toBe(7);
      await tight.call('DELETE', `/videos/${videoId}`);
      const send = async () => {
        const body = new FormData();
        body.set('file', new Blob(['film']), 'film.mp4');
        return (await tight.call('POST', `/videos/${(await target!).json.videoId}/source`, { body })).status;
      };
      expect(await send()).toBe(503);
      expect((await tight.call('GET', `/discarded/videos/${videoId}`)).status).toBe(200);
      await storeBytes(tight, videoId, Number.MAX_SAFE_INTEGER);
      // The numbers are made up: no bytes came free.
      expect(await send()).toBe(503);
      expect((await tight.call('GET', `/discarded/videos/${videoId}`)).status).toBe(404);
    } finally {
      await tight.stop();
    }
  });

  it('stays where bytes are announced that may never come, and counts as room for them', async () => {
    const makeRoom = vi.fn(async () => {});
    let canMakeRoom = true;
    const files = new MediaFiles(tmpdir());
    files.reclaimFrom({ makeRoom, canMakeRoom: async () => canMakeRoom });
    const announced = Number.MAX_SAFE_INTEGER;
    await files.expectRoom(announced, 0);
    canMakeRoom = false;
    await expect(files.expectRoom(announced, 0)).rejects.toMatchObject({ code: 'disk-full' });
    expect(makeRoom).not.toHaveBeenCalled();
    await expect(files.ensureFreeSpace(announced, 0)).rejects.toMatchObject({ code: 'disk-full' });
    expect(makeRoom).toHaveBeenCalledOnce();
  });

  it('is removed for good after 90 days, and not before', async () => {
    const [early, late] = [await create(), await create({ title: 'later' })];
    await discard(early.videoId);
    nowMs += day;
    await discard(late.videoId);
    expect(await server.api.videos.removal.purgeDiscarded(nowMs + 89 * day - 1)).toBe(0);
    expect(await server.api.videos.removal.purgeDiscarded(nowMs + 89 * day)).toBe(1);
    expect(removed).toEqual([early.videoId]);
    expect(await idsOf('/discarded/videos')).toEqual([late.videoId]);
  });
});

describe('the list of discarded videos', () => {
  it('has the filters, the orders and the pages of the other', async () => {
    for (const title of ['Beta boat', 'alpha boat', 'Gamma'])
      await discard((await create({ title })).videoId);
    await create({ title: 'still there, a boat' });
    const titles = async (query: string) =>
      (await server.call('GET', `/discarded/videos${query}`)).json.data.map(
        (video: { title: string }) => video.title,
      );
    expect(await titles('?sortBy=title')).toEqual(['alpha boat', 'Beta boat', 'Gamma']);
    expect(await titles('?title=BOAT&sortBy=title&sortOrder=desc')).toEqual(['Beta boat', 'alpha boat']);
    const { json } = await server.call('GET', '/discarded/videos?pageSize=2&currentPage=2');
    expect(json.pagination).toMatchObject({ itemsTotal: 3, pagesTotal: 2, currentPageItems: 1 });
    expect(json.pagination.links[0].uri).toBe('/discarded/videos?currentPage=2&pageSize=2');
  });

  it('and its ids are not there where videos cannot be restored (any more)', async () => {
    const dataDir = await testTempDir();
    const before = await startApi({ dataDir, videos: { restoreDays: () => 90 } });
    const made = (await before.call('POST', '/videos', { body: { title: 'a' } })).json;
    await before.call('DELETE', `/videos/${made.videoId}`);
    await before.stop();
    const plain = await startApi({ dataDir });
    try {
      const deleted = (await plain.call('POST', '/videos', { body: { title: 'b' } })).json;
      await plain.call('DELETE', `/videos/${deleted.videoId}`);
      const { json } = await plain.call('GET', '/discarded/videos?title=');
      expect([json.data, json.pagination.itemsTotal]).toEqual([[], 0]);
      for (const { videoId } of [made, deleted]) {
        for (const [method, body] of [['GET'], ['PATCH', { discarded: false }]] as const) {
          const answer = await plain.call(method, `/discarded/videos/${videoId}`, { body });
          expect([answer.status, answer.json.name]).toEqual([404, 'videoId']);
        }
      }
    } finally {
      await plain.stop();
    }
  });
});

describe('the list of videos', () => {
  it('is the newest first, and has links that keep the filters', async () => {
    const ids: string[] = [];
    for (let number = 1; number <= 5; number += 1) {
      nowMs += 1_000;
      ids.unshift((await create({ title: `Video ${number}`, tags: ['a b', 'c'] })).videoId);
    }
    expect(await idsOf('/videos')).toEqual(ids);
    expect(await idsOf('/videos?sortBy=publishedAt')).toEqual(ids.toReversed());
    const { json } = await server.call('GET', '/videos?tags[]=a+b&tags[]=c&currentPage=2&pageSize=2');
    const uri = (page: number) => `/videos?tags[]=a+b&tags[]=c&currentPage=${page}&pageSize=2`;
    expect(json.data.map((video: { videoId: string }) => video.videoId)).toEqual(ids.slice(2, 4));
    expect(json.pagination.links.map((link: { uri: string }) => link.uri)).toEqual([2, 1, 1, 3, 3].map(uri));
    expect(await idsOf(uri(3))).toEqual(ids.slice(4));
    expect(await idsOf(uri(4))).toEqual([]);
  });

  it.each([
    'tags[]=a%20b',
    'tags%5B%5D=a+b&tags%5B%5D=c',
    'tags[0]=a+b&tags[1]=c',
    'tags[][0]=c',
    'tags=a+b',
    'metadata[Author]=Jane&metadata[Format]=How%20to',
    'metadata[Author]=Jane&metadata[Author]=Joe',
    'metadata[__proto__]=x',
    'title=t%C3%A9',
    'title=L%27%C3%89T&description=%22so%22',
    'description=so%22+CALLED',
    'liveStreamId=li1',
  ])('finds by %s', async query => {
    await create({ title: 'other' });
    const projectId = await sandboxProjectOf(server.database);
    const attributes = {
      title: "L'Été",
      description: 'A "so" called film',
      tags: ['a b', 'c'],
      metadata: [
        { key: 'Author', value: 'Jane' },
        { key: 'Format', value: 'How to' },
        { key: 'Author', value: 'Joe' },
        { key: '__proto__', value: 'x' },
      ],
    };
    const { videoId } = await server.api.videos.create(projectId, attributes);
    await runSql(server.database, "UPDATE videos SET live_stream_id = 'li1' WHERE id = ?", videoId);
    expect(await idsOf(`/videos?${query}`)).toEqual([videoId]);
  });

  it.each([
    'tags[]=A%20b',
    'tags[]=a%20b,c',
    'tags[]=a%20b&tags[]=d',
    'metadata[author]=Jane',
    'metadata[Author]=Jan',
    'metadata[Author]=Jane&metadata[Format]=x',
    'metadata[Author]=Joe&metadata[Author]=Jane',
    'metadata[__proto__]=x',
    'metadata[constructor]=x',
    'title=%25',
  ])('finds nothing by %s', async query => {
    await create({ tags: ['a b', 'c'], metadata: [{ key: 'Author', value: 'Jane' }] });
    expect(await idsOf(`/videos?${query}`)).toEqual([]);
  });

  it.each([
    'limit=5',
    'page=1',
    'sortBy=videoId',
    'title[x]=1',
    'metadata=x',
    'title=%00',
    `title=${'a'.repeat(1_025)}`,
  ])('refuses %s', async query => {
    const answer = await server.call('GET', `/videos?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title: 'Invalid attributes.', name: query.split(/[=[]/)[0] });
  });
});
