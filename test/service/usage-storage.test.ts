import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorageMeterStore } from '../../src/operations/usage/storage-meter.store.ts';
import { StorageMeter } from '../../src/operations/usage/storage-meter.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { formWith, pngImage } from '../support/images.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { fileForm, noise } from './upload-fixture.ts';
import { MovedClock } from './webhook-fixture.ts';

const clock = new MovedClock();
let server: TestApi;
let files: MediaFiles;
let meter: StorageMeter;

beforeAll(async () => {
  server = await startApi();
  files = new MediaFiles(server.dataDir);
  meter = new StorageMeter({
    store: new StorageMeterStore(server.database),
    files,
    clock,
    log: silentLogger,
  });
});
afterAll(() => server.stop());

const storage = async (key?: string) =>
  (await server.call('GET', '/usage', key === undefined ? {} : { key })).json.storage;
const nothing = {
  totalBytes: 0,
  sourceBytes: 0,
  recordingBytes: 0,
  hlsBytes: 0,
  mp4Bytes: 0,
  imageBytes: 0,
  textBytes: 0,
};

function place(videoId: string, name: string, bytes: number): void {
  const path = files.video(videoId, ...name.split('/'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes));
}

async function uploaded(bytes: number, key?: string): Promise<string> {
  const as = key === undefined ? {} : { key };
  const { json } = await server.call('POST', '/videos', { body: { title: 'Pier' }, ...as });
  await server.call('POST', `/videos/${json.videoId}/source`, { body: fileForm(noise(bytes)), ...as });
  return json.videoId;
}

describe('the storage of a project', () => {
  it('is the size of the files of its videos', async () => {
    const videoId = await uploaded(1_000);
    expect(await storage()).toEqual({ ...nothing, measuring: true });
    await server.call('POST', `/videos/${videoId}/captions/en`, {
      body: formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']),
    });
    await server.call('POST', `/videos/${videoId}/thumbnail`, {
      body: formWith(['file', pngImage(4, 4), 'a.png']),
    });
    place(videoId, 'hls-7/720p.mp4', 400);
    place(videoId, 'hls-7/720p.mp4.index', 30);
    place(videoId, 'mp4/source.mp4', 500);
    place(videoId, 'notes.txt', 9_999);
    await meter.run();
    const kinds = {
      sourceBytes: 1_000,
      recordingBytes: 0,
      hlsBytes: 430,
      mp4Bytes: 500,
      imageBytes: pngImage(4, 4).length,
      textBytes: 7,
    };
    const totalBytes = Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0);
    expect(await storage()).toEqual({ totalBytes, ...kinds });
    await server.call('DELETE', `/videos/${videoId}`);
    expect(await storage()).toEqual(nothing);
    await meter.run();
    expect(await storage()).toEqual(nothing);
  });

  it('follows changes of files', async () => {
    const videoId = await uploaded(100);
    await meter.run();
    place(videoId, 'hls-1/240p.mp4', 50);
    await meter.run();
    expect((await storage()).hlsBytes).toBe(0);
    await runSql(
      server.database,
      "INSERT INTO renditions (video_id, type, quality, position, status) VALUES (?, 'hls', '240p', 1, 'waiting')",
      videoId,
    );
    const set = 'UPDATE renditions SET status = ?, file = ? WHERE video_id = ?';
    await runSql(server.database, set, 'encoded', 'hls-1/240p.mp4.index', videoId);
    place(videoId, 'hls-2/240p.mp4', 70);
    await meter.run();
    expect((await storage()).hlsBytes).toBe(120);
    rmSync(files.video(videoId, 'hls-1'), { recursive: true });
    clock.move(19_000);
    await meter.run();
    expect((await storage()).hlsBytes).toBe(120);
    clock.move(1_000);
    await meter.run();
    expect((await storage()).hlsBytes).toBe(70);

    // A video that is written to is measured all the time.
    await runSql(server.database, set, 'encoding', null, videoId);
    await meter.run();
    for (const bytes of [200, 300]) {
      clock.move(30_000);
      place(videoId, 'hls-2/240p.mp4', bytes);
      await meter.run();
      expect((await storage()).hlsBytes).toBe(bytes);
    }
    // And once a day in any case.
    await runSql(server.database, set, 'encoded', 'hls-2/240p.mp4.index', videoId);
    await meter.run();
    clock.move(20_000);
    await meter.run();
    rmSync(files.video(videoId), { recursive: true });
    clock.move(23 * 3_600_000);
    await meter.run();
    expect((await storage()).hlsBytes).toBe(300);
    clock.move(3_600_000);
    await meter.run();
    expect(await storage()).toEqual(nothing);
    await server.call('DELETE', `/videos/${videoId}`);
  });

  it('includes recordings from their first bytes', async () => {
    const videoId = 'viRecorded00000000000000';
    const project = await sandboxProjectOf(server.database);
    await runSql(
      server.database,
      "INSERT INTO recordings (video_id, project_id, live_stream_id, broadcast_id, started_at_ms, title, is_public) VALUES (?, ?, 'li', 'b', 1, 'Pier', 1)",
      videoId,
      project,
    );
    place(videoId, 'recording-1.mp4', 100);
    await meter.run();
    expect(await storage()).toEqual({ ...nothing, totalBytes: 100, recordingBytes: 100 });
    place(videoId, 'recording-1.mp4', 900);
    clock.move(30_000);
    await meter.run();
    expect((await storage()).recordingBytes).toBe(900);
    // Nothing comes of it.
    await runSql(server.database, 'DELETE FROM recordings');
    expect(await storage()).toEqual(nothing);

    const kept = await uploaded(40);
    await runSql(server.database, "UPDATE video_sources SET origin = 'recording' WHERE video_id = ?", kept);
    await meter.run();
    expect(await storage()).toEqual({ ...nothing, totalBytes: 40, recordingBytes: 40 });
    await server.call('DELETE', `/videos/${kept}`);
  });

  it('belongs to one project', async () => {
    const other = await server.addAccount();
    const own = await uploaded(10);
    await uploaded(7, other.sandboxKey);
    await meter.run();
    expect([(await storage()).totalBytes, (await storage(other.sandboxKey)).totalBytes]).toEqual([10, 7]);
    const counts = await server.call('GET', '/usage', { key: other.sandboxKey });
    expect([counts.json.videos, counts.json.liveStreams]).toEqual([1, 0]);
    expect(counts.json.projectId).toBe(other.projectIds.sandbox);
    await runSql(server.database, 'DELETE FROM accounts WHERE id = ?', other.accountId);
    await meter.run();
    expect((await storage()).totalBytes).toBe(10);
    expect(await singleValue(server.database, 'SELECT count(*) FROM storage_totals')).toBe(1);
    await server.call('DELETE', `/videos/${own}`);
  });
});
