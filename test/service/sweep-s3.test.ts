import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSweepRepairs } from '../../src/app/sweep-repairs.ts';
import type { NewJob } from '../../src/jobs/job.ts';
import { DatabaseUsePeriods } from '../../src/operations/housekeeping/database-use-periods.ts';
import { LocalLeftovers } from '../../src/operations/housekeeping/local-leftovers.ts';
import { LocalSweep } from '../../src/operations/housekeeping/local-sweep.ts';
import { SweepStore } from '../../src/operations/housekeeping/sweep.store.ts';
import { Sweep } from '../../src/operations/housekeeping/sweep.ts';
import { StorageMeterStore } from '../../src/operations/usage/storage-meter.store.ts';
import { StorageMeter } from '../../src/operations/usage/storage-meter.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import { pngImage } from '../support/images.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { runSql } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { fileForm } from './upload-fixture.ts';

const dayMs = 24 * 3_600_000;
const kilobyte = Buffer.alloc(1_024, 7);

let s3: S3Server | undefined;
let server: TestApi;
let storage: MediaStorage;
let files: MediaFiles;
let ordered: NewJob[] = [];

beforeAll(async () => {
  if (s3Missing === undefined) s3 = await startS3();
  else console.log(`Skipped: ${s3Missing}`);
});
afterAll(() => s3?.stop());
beforeEach(async context => {
  if (s3 === undefined) return context.skip(s3Missing);
  ordered = [];
  const bucket = `bucket-${randomUUID()}`;
  await s3.makeBucket(bucket);
  server = await startApi({
    mediaStorage: async dataDir => {
      storage = await openTestS3Storage({ url: s3!.url(bucket, { prefix: 'some/prefix' }), dataDir });
      return storage;
    },
  });
  files = new MediaFiles(server.dataDir, storage);
});
afterEach(async () => {
  if (s3 !== undefined) await server.stop();
});

const common = (laterMs: number) => ({
  store: new SweepStore(server.database),
  files,
  isBusy: async () => false,
  observer: { removed: () => {}, repaired: () => {} },
  clock: { nowMs: () => Date.now() + laterMs, monotonicMs: () => 0 },
  log: silentLogger,
});

async function sweep(laterMs: number): Promise<void> {
  const jobs = {
    add: async (job: NewJob) => void ordered.push(job),
    has: async () => false,
    remove: async () => {},
    cancel: async () => {},
    pauseDiscarded: async () => {},
    resumeRestored: async () => {},
    awaitRemoved: async () => {},
  };
  const repairs = createSweepRepairs(server.database);
  const one = await Sweep.create({ ...common(laterMs), repairs, jobs, leftovers: undefined });
  await one.run();
}

async function sweepLocally(laterMs: number): Promise<void> {
  const leftovers = new LocalLeftovers({
    removeLeftoverBroadcasts: async () => 0,
    removeAbortedBackups: async () => 0,
    log: silentLogger,
  });
  const { store, clock } = common(laterMs);
  const usePeriods = await DatabaseUsePeriods.begin(store, clock.nowMs());
  await new LocalSweep({ ...common(laterMs), leftovers, usePeriods }).run();
}

async function write(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, kilobyte);
  return path;
}

async function store(path: string): Promise<string> {
  await storage.publish(await write(join(server.dataDir, randomUUID())), path);
  return path;
}

const isStored = async (path: string) => (await storage.find(path)) !== undefined;

async function storedOf(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(isStored));
  return paths.filter((_, index) => found[index]);
}

async function createVideo(): Promise<string> {
  return (await server.call('POST', '/videos', { body: { title: 'A video' } })).json.videoId;
}

async function addSource(videoId: string): Promise<void> {
  await runSql(
    server.database,
    "INSERT INTO video_sources (video_id, origin, form, status, bytes, started_at_ms) VALUES (?, 'upload', 'plain', 'uploaded', 9, 1)",
    videoId,
  );
}

describe('a sweep of object storage', () => {
  it('removes what no row names a day after it was stored', async () => {
    const videoId = await createVideo();
    const orphans = [
      await store(files.video(newId('vi'), 'source')),
      await store(files.video(newId('vi'), 'hls-1', 'video.mp4')),
      await store(files.upload(newId('vi'), `0-${randomUUID()}`)),
      await store(files.watermark(newId('watermark_'))),
      await store(files.player(newId('pl'), `logo-${randomUUID()}.png`)),
      await store(files.live(newId('li'), 'thumbnail')),
      await store(files.video(videoId, `thumbnail-${randomUUID()}.jpg`)),
    ];
    await sweep(dayMs / 2);
    expect(await storedOf(orphans)).toEqual(orphans);
    await sweep(2 * dayMs);
    expect(await storedOf(orphans)).toEqual([]);
  });

  it('keeps what rows name, and chunks of uploads that go on', async () => {
    const { json: watermark } = await server.call('POST', '/watermarks', {
      body: fileForm(pngImage(4, 4), { name: 'w.png' }),
    });
    const videoId = await createVideo();
    const captions = fileForm(Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'), { name: 'c.vtt' });
    expect((await server.call('POST', `/videos/${videoId}/captions/en`, { body: captions })).status).toBe(
      200,
    );
    const sent = await server.call('POST', `/videos/${videoId}/source`, {
      body: fileForm(Buffer.alloc(5_242_880)),
      headers: { 'content-range': 'part 1/2' },
    });
    expect(sent.status).toBe(201);
    const kept: string[] = [];
    for (const kind of ['vod', 'uploads', 'watermarks'] as const) {
      for await (const { path } of storage.list(files.root(kind))) kept.push(path);
    }
    expect(kept).toHaveLength(3);
    expect(kept).toContain(files.watermark(watermark.watermarkId));
    await sweep(2 * dayMs);
    expect(await storedOf(kept)).toEqual(kept);
  });

  it('repairs rows whose files are missing', async () => {
    const videoId = await createVideo();
    const lost = `thumbnail-${randomUUID()}.jpg`;
    const { database } = server;
    await store(files.source(videoId));
    await addSource(videoId);
    await runSql(
      database,
      "INSERT INTO video_encodings (video_id, facts, is_playable, has_storyboard) VALUES (?, '{}', 1, 0)",
      videoId,
    );
    await runSql(
      database,
      "INSERT INTO video_thumbnails (video_id, choice, file) VALUES (?, 'default', ?)",
      videoId,
      lost,
    );
    await sweep(2 * dayMs);
    expect(ordered.map(({ kind, subjectId }) => [kind, subjectId])).toContainEqual(['frame', videoId]);
    expect(await isStored(files.source(videoId))).toBe(true);
  });
});

describe('a sweep of the data folder beside object storage', () => {
  it('removes what no job is working on', async () => {
    const [dead, working] = [await createVideo(), await createVideo()];
    await runSql(
      server.database,
      "INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, created_at_ms) VALUES ('encode', 'encode', ?, '{}', 0, 'waiting', 1, 1)",
      working,
    );
    const leftovers = [
      await write(files.video(dead, 'hls-1', '240p.mp4')),
      await write(files.video(dead, 'source.partial')),
      await write(files.video(newId('vi'), 'source.partial')),
      await write(files.upload(newId('vi'), 'chunk')),
    ];
    const partial = await write(files.video(working, 'hls-2', '240p.mp4'));
    const [stored, notCopied] = [await createVideo(), await createVideo()];
    await addSource(stored);
    await addSource(notCopied);
    const kept = [partial, await store(files.source(stored)), await write(files.source(notCopied))];
    await sweepLocally(dayMs);
    expect(await storedOf([...leftovers, ...kept])).toEqual(kept);
  });
});

describe('the meter of object storage', () => {
  it('measures the stored files of a video', async () => {
    const videoId = await createVideo();
    await store(files.source(videoId));
    await store(files.video(videoId, 'hls-1', '240p.mp4'));
    await store(files.video(videoId, 'mp4', 'source.mp4'));
    const meter = new StorageMeter({
      store: new StorageMeterStore(server.database),
      files,
      clock: systemClock,
      log: silentLogger,
    });
    await addSource(videoId);
    await meter.run();
    const { storage: measured } = (await server.call('GET', '/usage')).json;
    expect(measured).toMatchObject({
      totalBytes: 3_072,
      sourceBytes: 1_024,
      hlsBytes: 1_024,
      mp4Bytes: 1_024,
    });
  });
});
