import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import type { MediaTools } from '../../src/ffmpeg/media-tools.ts';
import { BroadcastClaimsStore } from '../../src/resources/live/broadcasts/broadcast-claims.store.ts';
import { RecordingsStore } from '../../src/resources/live/broadcasts/recordings.store.ts';
import { EncodingsStore } from '../../src/resources/videos/videos/encodings/encodings.store.ts';
import { TranscriptsStore } from '../../src/resources/videos/videos/transcripts/transcripts.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { AppError } from '../../src/shared/errors.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { FreeSpaceWatch } from '../../src/storage/free-space-watch.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import { RenditionFolders } from '../../src/vod/encode/rendition-folders.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { GrowingVideos } from '../../src/vod/playback/growing-videos.ts';
import type { NewRecording } from '../../src/vod/recording/recording-repository.ts';
import { Recordings } from '../../src/vod/recording/recordings.ts';
import type { VodContext } from '../../src/vod/vod-context.ts';
import { part, probedParts } from '../support/recorded-parts.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Title of a recording of a live stream with this name. */
const titleOf = (name: string): unknown =>
  expect.stringMatching(new RegExp(`^${name}, \\d{1,2} [A-Z][a-z]+ 20\\d\\d, \\d\\d:\\d\\d UTC$`));

let s3: S3Server | undefined;
let api: TestApi;
let bucket: string;
let broadcast: Pick<NewRecording, 'projectId' | 'liveStreamId' | 'broadcastId'>;
/** Servers that take recordings over, in addition to the one that begins it. */
let takers: string[] = [];

beforeAll(async () => {
  if (s3Missing === undefined) s3 = await startS3();
  else console.log(`Skipped: ${s3Missing}`);
  api = await startApi();
});
beforeEach(async () => {
  for (const table of ['recordings', 'videos', 'events', 'broadcasts'])
    await runSql(api.database, `DELETE FROM ${table}`);
  bucket = `bucket-${randomUUID()}`;
  takers = [];
  await s3?.makeBucket(bucket);
  const { json } = await api.call('POST', '/live-streams', { body: { name: 'Harbour' } });
  const projectId = await sandboxProjectOf(api.database);
  broadcast = { projectId, liveStreamId: json.liveStreamId, broadcastId: 'brA' };
});
afterAll(async () => {
  await api.stop();
  await s3?.stop();
});

/** The recordings of one of several servers. */
async function startNode(
  nodeId: string,
  options: { readonly write?: MediaStorage['write']; readonly dataDir?: string } = {},
) {
  const { write, dataDir = await testTempDir() } = options;
  const storage = await openTestS3Storage({ url: s3!.url(bucket), dataDir });
  onTestFinished(() => storage.stop());
  if (write !== undefined) storage.write = write;
  const files = new MediaFiles(dataDir, storage);
  const { database } = api;
  const outbox = new Outbox(database, silentLogger);
  const repository = new RecordingsStore({
    database,
    outbox,
    nodeId,
    listTakers: async () => takers,
    addVideo: (id, video, transaction) => api.api.videos.createRecorded(id, video, transaction),
  });
  const tools: Partial<MediaTools> = { probe: async () => probedParts };
  const recovered: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    child: () => log,
    warn: (event, data) => event === 'recording-recovered' && recovered.push(data?.videoId),
  };
  const context = {
    files,
    tools,
    folders: new RenditionFolders(files),
    reader: new RenditionReader(storage),
    growing: new GrowingVideos(),
    clock: systemClock,
    log,
    records: new EncodingsStore(database, outbox, systemClock),
    transcripts: new TranscriptsStore(database, outbox, systemClock),
    jobs: { add: async () => {}, has: async () => false },
  } as unknown as VodContext;
  const recordings = new Recordings({
    context,
    repository,
    minFreeBytes: 0,
    hasSeekTables: true,
    freeSpace: new FreeSpaceWatch({ freeBytes: async () => 1e12, clock: systemClock, log: silentLogger }),
    observer: { written: () => {}, stopped: () => {} },
  });
  await recordings.start();
  onTestFinished(() => recordings.stop());
  return { recordings, files, dataDir, recovered };
}

type Node = Awaited<ReturnType<typeof startNode>>;

/** Begins a recording of so many seconds. */
async function record({ recordings }: Node, seconds: number) {
  const open = recordings.open(broadcast, () => {})!;
  for (let second = 0; second < seconds; second += 1) open.add(part(second));
  return {
    open,
    videoId: await waitUntil(() => singleValue<string>(api.database, 'SELECT video_id FROM recordings')),
  };
}

const test = it.skipIf(s3Missing !== undefined);

const stored = (videoId: string, ...path: string[]) => join(s3!.folder, bucket, 'vod', videoId, ...path);

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

const piecesOf = (videoId: string) => namesIn(stored(videoId, 'recording-1.mp4.pieces'));
const videos = () => rowsOf<{ id: string; title: string }>(api.database, 'SELECT id, title FROM videos');
const waitForVideo = () => waitUntil(async () => (await videos()).length > 0);

async function playableSeconds({ files }: Node, videoId: string): Promise<number> {
  const sql = `SELECT file FROM renditions WHERE video_id = '${videoId}' AND type = 'hls' AND status = 'encoded'`;
  const file = await singleValue<string>(api.database, sql);
  const rendition = await new RenditionReader(files.storage).open(files.video(videoId, file!));
  const indexes = Array.from({ length: rendition.segmentCount }, (_, index) => index);
  return indexes.reduce((sum, index) => sum + rendition.durationSeconds(index), 0);
}

test('a recording is uploaded while it is made, and stored whole at its end', async () => {
  const node = await startNode('a');
  const { open, videoId } = await record(node, 9);
  await waitUntil(() => piecesOf(videoId).length > 0);
  open.close();
  await waitForVideo();
  await waitUntil(() => !namesIn(stored(videoId)).includes('recording-1.mp4.pieces'));
  expect(namesIn(stored(videoId)).map(name => name.replace(/\d+$/, ''))).toEqual(['hls-', 'source']);
  expect(namesIn(node.files.video(videoId)).filter(name => name === 'source')).toEqual([]);
  expect(await playableSeconds(await startNode('b'), videoId)).toBeCloseTo(9, 1);
});

test('the recording of a server that is gone is finished by another, up to its last pieces', async () => {
  const lost = await startNode('a');
  const { open, videoId } = await record(lost, 9);
  await waitUntil(() => piecesOf(videoId).length > 0);
  // Adds less than another piece needs.
  for (const second of [9, 10, 11]) open.add(part(second));
  const next = await startNode('b');
  expect(await videos()).toEqual([]);
  await next.recordings.takeOver('a');
  await waitForVideo();
  expect(await videos()).toEqual([{ id: videoId, title: titleOf('Harbour') }]);
  const seconds = await playableSeconds(next, videoId);
  expect(seconds).toBeGreaterThanOrEqual(4);
  await waitUntil(() => piecesOf(videoId).length === 0);

  // The lost server comes back to life, and stores what only it has.
  open.close();
  await waitUntil(async () => (await playableSeconds(next, videoId)) > 11.9);
  expect(await playableSeconds(next, videoId)).toBeCloseTo(12, 1);
  expect((await videos()).map(({ id }) => id)).toEqual([videoId]);
  await waitUntil(() => namesIn(lost.files.video(videoId)).every(name => !name.startsWith('recording-')));
});

test('the recordings of a server that is gone are finished by all others, each by one', async () => {
  const lost = await startNode('a');
  const opened = ['brA', 'brB', 'brC', 'brD'].map(
    broadcastId => lost.recordings.open({ ...broadcast, broadcastId }, () => {})!,
  );
  for (let second = 0; second < 9; second += 1) for (const open of opened) open.add(part(second));
  const ids = await waitUntil(async () => {
    const rows = await rowsOf<{ id: string }>(api.database, 'SELECT video_id AS id FROM recordings');
    return rows.length === 4 && rows.every(({ id }) => piecesOf(id).length > 0)
      ? rows.map(row => row.id)
      : undefined;
  });
  const others = [await startNode('b'), await startNode('c')];
  takers = ['a', 'b', 'c'];
  await others[0]!.recordings.takeOver('a');
  await waitUntil(async () => (await videos()).length === 4);
  await waitUntil(() => others.every(({ recovered }) => recovered.length === 2));
  expect(others.flatMap(({ recovered }) => recovered).toSorted()).toEqual(ids.toSorted());
});

test('a server that restarts uploads what is missing of a recording that another one goes on with', async () => {
  await runSql(
    api.database,
    `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, protocol, remote_address, encoder)
     VALUES ('brA', '${broadcast.projectId}', '${broadcast.liveStreamId}', 'live', 1, 'rtmp', '', '')`,
  );
  const lost = await startNode('a', { write: () => Promise.reject(new AppError('storage-unavailable')) });
  const { videoId } = await record(lost, 9);
  const written = lost.files.video(videoId, 'recording-1.mp4');
  await waitUntil(() => statSync(written).size > 9 * part(0).fragment.length);
  const next = await startNode('b');
  await next.recordings.takeOver('a');
  expect(piecesOf(videoId)).toEqual([]);

  const { dataDir, files } = await startNode('c');
  await mkdir(files.video(videoId), { recursive: true });
  await copyFile(written, files.video(videoId, 'recording-1.mp4'));
  await startNode('a', { dataDir });
  await waitUntil(() => piecesOf(videoId).length > 0);
  const sizes = () =>
    piecesOf(videoId).map(name => statSync(stored(videoId, 'recording-1.mp4.pieces', name)).size);
  await waitUntil(() => sizes().reduce((sum, size) => sum + size, 0) === statSync(written).size);
});

test('a server that restarts stores what only it has of a recording that another one finished', async () => {
  let isSlow = false;
  const lost = await startNode('a');
  const write = lost.files.storage.write.bind(lost.files.storage);
  lost.files.storage.write = async (...values) => {
    if (isSlow) throw new AppError('storage-unavailable');
    return write(...values);
  };
  const { open, videoId } = await record(lost, 9);
  await waitUntil(() => piecesOf(videoId).length > 0);
  isSlow = true;
  for (let second = 9; second < 30; second += 1) open.add(part(second));
  const written = lost.files.video(videoId, 'recording-1.mp4');
  await waitUntil(() => statSync(written).size > 30 * part(0).fragment.length);
  const next = await startNode('b');
  await next.recordings.takeOver('a');
  await waitForVideo();
  expect(await playableSeconds(next, videoId)).toBeLessThan(20);

  const { dataDir, files } = await startNode('c');
  await mkdir(files.video(videoId), { recursive: true });
  await copyFile(written, files.video(videoId, 'recording-1.mp4'));
  await startNode('a', { dataDir });
  await waitUntil(async () => (await playableSeconds(next, videoId)) > 29.9);
  expect((await videos()).map(({ id }) => id)).toEqual([videoId]);
});

test('a server leaves the recordings of another alone, and finishes its own after a restart', async () => {
  const crashed = await startNode('a', { write: () => Promise.reject(new AppError('storage-unavailable')) });
  const { videoId } = await record(crashed, 9);
  const written = crashed.files.video(videoId, 'recording-1.mp4');
  await waitUntil(
    async () => ((await crashed.files.storage.find(written))?.bytes ?? 0) > 9 * part(0).fragment.length,
  );
  await startNode('b');
  expect(await videos()).toEqual([]);

  const { dataDir, files } = await startNode('c');
  await mkdir(files.video(videoId), { recursive: true });
  await copyFile(written, files.video(videoId, 'recording-1.mp4'));
  const restarted = await startNode('a', { dataDir });
  await waitForVideo();
  expect(await playableSeconds(restarted, videoId)).toBeCloseTo(9, 1);
});

test('a recording that continues on another server becomes one video, after its broadcast', async () => {
  await runSql(
    api.database,
    `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, protocol, remote_address, encoder)
     VALUES ('brA', '${broadcast.projectId}', '${broadcast.liveStreamId}', 'live', 1, 'rtmp', '', '')`,
  );
  const first = await startNode('a');
  const { open, videoId } = await record(first, 3);
  open.close(true);
  await waitUntil(() => first.recordings.openCount === 0);
  expect(piecesOf(videoId)).not.toEqual([]);

  const claims = new BroadcastClaimsStore(api.database, systemClock);
  const taken = await api.database.transaction(transaction => claims.takeRecording('brA', 'b', transaction));
  expect(taken?.videoId).toBe(videoId);
  const next = await startNode('b');
  const recording = { ...taken!, firstSpan: 1001 };
  const continued = next.recordings.open({ ...broadcast, recording }, () => {})!;
  for (let second = 20; second < 25; second += 1) continued.add(part(second));
  continued.close();
  await waitUntil(() => next.recordings.openCount === 0);
  expect(await videos()).toEqual([]);

  await runSql(
    api.database,
    "UPDATE broadcasts SET ended_at_ms = 2, end_reason = 'completed', state = 'ended' WHERE id = 'brA'",
  );
  await first.recordings.finishOrphaned();
  await waitForVideo();
  expect((await videos()).map(({ id }) => id)).toEqual([videoId]);
  // Waits for the pieces of the job that joins them.
  const files = () => namesIn(stored(videoId)).filter(name => name.endsWith('.mp4'));
  await waitUntil(() => files().length === 2);
  expect(files()).toEqual(['recording-1.mp4', 'recording-1001.mp4']);
  const sizes = files().map(name => statSync(stored(videoId, name)).size);
  expect(sizes[1]).toBeGreaterThan(sizes[0]!);
  await waitUntil(async () => {
    await first.recordings.finishOrphaned();
    return namesIn(first.files.video(videoId)).every(name => !name.startsWith('recording-'));
  });
});

test('storage that does not answer only delays the upload', async () => {
  const node = await startNode('a', {
    write: (_path, _bytes, signal) =>
      new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
  });
  const { open, videoId } = await record(node, 12);
  open.close();
  await waitForVideo();
  expect(await playableSeconds(node, videoId)).toBeCloseTo(12, 1);
  expect(piecesOf(videoId)).toEqual([]);
});
