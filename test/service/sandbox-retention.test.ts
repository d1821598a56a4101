import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { usualKind } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const hourMs = 3_600_000;
const keptMs = 24 * hourMs;

function film(): FormData {
  const body = new FormData();
  body.set('file', new File(['not a film, but a file'], 'a.mp4'));
  return body;
}

describe('videos of the sandbox', () => {
  let nowMs = Date.UTC(2026, 2, 4);
  const removed: string[] = [];
  let server: TestApi;
  beforeAll(async () => {
    server = await startApi({
      isUpgraded: true,
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
      videos: { restoreDays: () => 90, removed: async videoId => void removed.push(videoId) },
    });
  });
  afterAll(() => server.stop());

  const create = async (key: string, isUploaded = true): Promise<string> => {
    const { videoId } = (await server.call('POST', '/videos', { body: { title: 'Harbour' }, key })).json;
    if (isUploaded) {
      const answer = await server.call('POST', `/videos/${videoId}/source`, { body: film(), key });
      expect(answer.status).toBe(201);
    }
    return videoId;
  };
  const statusOf = async (videoId: string, key = sandboxKey) =>
    (await server.call('GET', `/videos/${videoId}`, { key })).status;
  const remove = () => server.api.videos.removal.removeOfSandbox(nowMs - keptMs);
  const rows = (table: string, videoId: string) =>
    singleValue(server.database, `SELECT count(*) FROM ${table} WHERE video_id = ?`, videoId);

  it('are deleted permanently 24 hours after their upload', async () => {
    const empty = await create(sandboxKey, false);
    const ofProduction = await create(productionKey);
    const early = await create(sandboxKey);
    const discarded = await create(sandboxKey);
    await server.call('DELETE', `/videos/${discarded}`);
    nowMs += hourMs;
    const late = await create(sandboxKey);
    const filled = await server.call('POST', `/videos/${empty}/source`, { body: film() });
    expect(filled.status).toBe(201);

    nowMs += 23 * hourMs - 1;
    expect(await remove()).toBe(0);
    nowMs += 1;
    expect(await remove()).toBe(2);
    expect(removed.toSorted()).toEqual([early, discarded].toSorted());
    expect([await statusOf(early), await statusOf(late), await statusOf(empty)]).toEqual([404, 200, 200]);
    expect((await server.call('GET', `/discarded/videos/${discarded}`)).status).toBe(404);
    for (const table of ['video_sources', 'sandbox_videos', 'empty_videos', 'video_thumbnails']) {
      expect(await rows(table, early)).toBe(0);
    }

    nowMs += 300 * 24 * hourMs;
    expect(await remove()).toBe(2);
    expect(await statusOf(ofProduction, productionKey)).toBe(200);
    const list = await server.call('GET', '/videos');
    expect(list.json.pagination.itemsTotal).toBe(0);
  });

  it('are kept while nothing was uploaded', async () => {
    const empty = await create(sandboxKey, false);
    const begun = await create(sandboxKey, false);
    const body = new FormData();
    body.set('file', new File([new Uint8Array(5_242_880)], 'a.mp4'));
    const headers = { 'content-range': 'part 1/3' };
    await server.call('POST', `/videos/${begun}/source`, { body, headers });
    nowMs += 2 * keptMs;
    expect(await remove()).toBe(0);
    expect([await statusOf(empty), await statusOf(begun)]).toEqual([200, 200]);
  });

  it('are deleted when they are recordings', async () => {
    const videoId = await create(sandboxKey, false);
    await runSql(
      server.database,
      "INSERT INTO video_sources (video_id, origin, status, started_at_ms) VALUES (?, 'recording', 'ingesting', ?)",
      ...[videoId, nowMs],
    );
    nowMs += keptMs;
    expect(await remove()).toBe(0);
    await runSql(
      server.database,
      "UPDATE video_sources SET status = 'ingested', completed_at_ms = ? WHERE video_id = ?",
      ...[nowMs, videoId],
    );
    nowMs += keptMs;
    expect(await remove()).toBe(1);
  });

  it('are deleted when their source never arrives', async () => {
    const part = (videoId: string, key = sandboxKey) => {
      const body = new FormData();
      body.set('file', new File([new Uint8Array(5_242_880)], 'a.mp4'));
      const headers = { 'content-range': 'part 1/3' };
      return server.call('POST', `/videos/${videoId}/source`, { body, headers, key });
    };
    const [given, again] = [await create(sandboxKey, false), await create(sandboxKey, false)];
    const ofProduction = await create(productionKey, false);
    for (const videoId of [given, again]) expect((await part(videoId)).status).toBe(201);
    expect((await part(ofProduction, productionKey)).status).toBe(201);
    nowMs += 168 * hourMs + 1;
    // Includes the one that was begun by the previous test.
    expect(await server.api.uploads.service.failExpired(nowMs)).toBe(4);
    nowMs += keptMs - 1;
    expect(await remove()).toBe(0);
    expect((await part(again)).status).toBe(201);
    nowMs += 1;
    expect(await remove()).toBe(2);
    const statuses = [
      await statusOf(given),
      await statusOf(again),
      await statusOf(ofProduction, productionKey),
    ];
    expect(statuses).toEqual([404, 200, 200]);
  });

  it.runIf(usualKind === 'SQLite')('are found without reading other videos', async () => {
    const plan = await rowsOf<{ detail: string }>(
      server.database,
      'EXPLAIN QUERY PLAN SELECT video_id FROM sandbox_videos WHERE completed_at_ms <= 5 ORDER BY completed_at_ms, video_id LIMIT 9',
    );
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH sandbox_videos USING PRIMARY KEY (completed_at_ms<?)',
    ]);
  });
});

it('are deleted at the next start when the server was off', async () => {
  const dataDir = await testTempDir();
  const ids: Record<string, string> = {};
  const call = (server: { baseUrl: string }, key: string, path: string, body?: FormData | string) =>
    fetch(server.baseUrl + path, {
      headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
  {
    await using server = await startServer({}, { dataDir });
    for (const key of [server.sandboxKey, server.productionKey]) {
      const { videoId } = (await (await call(server, key, '/videos', '{"title":"Harbour"}')).json()) as {
        videoId: string;
      };
      expect((await call(server, key, `/videos/${videoId}/source`, film())).status).toBe(201);
      ids[key] = videoId;
    }
  }
  await using server = await startServer({}, { dataDir, sandboxRules: { retentionMs: 1 } });
  const [ofSandbox, ofProduction] = [ids[server.sandboxKey]!, ids[server.productionKey]!];
  await waitUntil(() => !existsSync(`${dataDir}/vod/${ofSandbox}`));
  expect((await call(server, server.sandboxKey, `/videos/${ofSandbox}`)).status).toBe(404);
  expect((await call(server, server.productionKey, `/videos/${ofProduction}`)).status).toBe(200);
  expect(existsSync(`${dataDir}/vod/${ofProduction}/source`)).toBe(true);
});
