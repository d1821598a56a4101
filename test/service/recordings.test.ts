import { existsSync, readdirSync, statSync } from 'node:fs';
import { appendFile, copyFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import type { MediaTools } from '../../src/ffmpeg/media-tools.ts';
import { RecordingsStore } from '../../src/resources/live/broadcasts/recordings.store.ts';
import { EncodingsStore } from '../../src/resources/videos/videos/encodings/encodings.store.ts';
import { TranscriptsStore } from '../../src/resources/videos/videos/transcripts/transcripts.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { LogData, Logger } from '../../src/shared/logger.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { FreeSpaceWatch } from '../../src/storage/free-space-watch.ts';
import { type FreeDiskSpace, MediaFiles } from '../../src/storage/media-files.ts';
import { RenditionFolders } from '../../src/vod/encode/rendition-folders.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { GrowingVideos } from '../../src/vod/playback/growing-videos.ts';
import type { RecordingRepository } from '../../src/vod/recording/recording-repository.ts';
import { Recordings } from '../../src/vod/recording/recordings.ts';
import type { VodContext } from '../../src/vod/vod-context.ts';
import { openFilesIn } from '../support/open-files.ts';
import { part, probedParts as probed } from '../support/recorded-parts.ts';
import { audioTrack, videoTrack } from '../support/recording-sink.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Title of a recording of a live stream with this name. */
const titleOf = (name: string): unknown =>
  expect.stringMatching(new RegExp(`^${name}, \\d{1,2} [A-Z][a-z]+ 20\\d\\d, \\d\\d:\\d\\d UTC$`));

let api: TestApi;
let projectId: string;
let liveStreamId: string;
let lines: { event: string; data: LogData | undefined }[];
let ordered: string[];

beforeAll(async () => {
  api = await startApi();
  projectId = await sandboxProjectOf(api.database);
});
beforeEach(async () => {
  for (const table of ['recordings', 'videos', 'events']) await runSql(api.database, `DELETE FROM ${table}`);
  liveStreamId = (await api.call('POST', '/live-streams', { body: { name: 'Harbour' } })).json.liveStreamId;
  lines = [];
  ordered = [];
});
afterAll(() => api.stop());

const linesOf = (event: string) => lines.filter(line => line.event === event);
const logger = (): Logger => {
  const note = (event: string, data?: LogData): void => void lines.push({ event, data });
  return { trace: note, debug: note, info: note, warn: note, error: note, child: logger };
};
const folderOf = (videoId: string, ...path: string[]) => join(api.dataDir, 'vod', videoId, ...path);
const playable = () =>
  rowsOf<{ id: string; title: string; is_playable: number | null }>(
    api.database,
    'SELECT v.id, v.title, e.is_playable FROM videos v LEFT JOIN video_encodings e ON e.video_id = v.id',
  );

const waitForVideo = () =>
  waitUntil(async () => {
    const videos = await playable();
    return videos.length > 0 && videos;
  });

/** Recordings as the server has them, over the real store and disk; the clock is the test's. */
function recordingsWith(
  change: {
    probe?: MediaTools['probe'];
    book?: (real: RecordingsStore) => Partial<RecordingRepository>;
    mayStore?: () => Promise<boolean>;
    freeBytes?: () => number;
    makeRoom?: FreeDiskSpace;
  } = {},
) {
  let aheadMs = 0;
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + aheadMs };
  const outbox = new Outbox(api.database, silentLogger);
  const files = new MediaFiles(api.dataDir);
  const store = new RecordingsStore({
    database: api.database,
    outbox,
    nodeId: undefined,
    listTakers: async () => [],
    addVideo: (id, video, transaction) => api.api.videos.createRecorded(id, video, transaction),
  });
  const changes = change.book?.(store) ?? {};
  const book = new Proxy(store, {
    get: (target, name) => {
      const own = changes[name as keyof RecordingRepository] ?? target[name as keyof RecordingsStore];
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
  const context = {
    tools: { probe: change.probe ?? (async () => probed) },
    files,
    folders: new RenditionFolders(files),
    reader: new RenditionReader(files.storage),
    growing: new GrowingVideos(),
    clock,
    log: logger(),
    records: new EncodingsStore(api.database, outbox, systemClock),
    transcripts: new TranscriptsStore(api.database, outbox, systemClock),
    jobs: { add: async ({ kind }: { kind: string }) => void ordered.push(kind), has: async () => false },
  } as unknown as VodContext;
  const recordings = new Recordings({
    context,
    repository: book,
    minFreeBytes: 1e9,
    hasSeekTables: true,
    freeSpace: new FreeSpaceWatch({
      freeBytes: async () => change.freeBytes?.() ?? 1e12,
      makeRoom: change.makeRoom,
      clock,
      log: silentLogger,
    }),
    mayStore: change.mayStore,
    observer: { written: () => {}, stopped: () => {} },
  });
  onTestFinished(() => recordings.stop());
  return { recordings, book, files, pass: (ms: number) => (aheadMs += ms) };
}

/** A recording that was cut off: what is on the disk, and in the book. */
async function cutOff(seconds: number): Promise<string> {
  const { recordings } = recordingsWith({ book: () => ({ convertToVideo: () => fail() }) });
  const open = recordings.open({ projectId, liveStreamId, broadcastId: 'brA' }, () => {})!;
  for (let second = 0; second < seconds; second += 1) open.add(part(second));
  open.close();
  await waitUntil(() => linesOf('recording-unfinished').length > 0);
  await recordings.stop();
  lines = [];
  const videoId = (await singleValue<string>(api.database, 'SELECT video_id FROM recordings'))!;
  await rename(folderOf(videoId, 'source'), folderOf(videoId, 'recording-1.mp4'));
  return videoId;
}

async function fail(): Promise<never> {
  throw new Error('the disk is full');
}

test('opening a recording checks disk space, which is not checked while nothing is recorded', async () => {
  let free = 1e12;
  let looks = 0;
  const { recordings } = recordingsWith({
    freeBytes: () => {
      looks += 1;
      return free;
    },
  });
  await recordings.start();
  free = 0;
  const looksBefore = looks;
  const stopped = Promise.withResolvers<void>();
  const open = recordings.open({ projectId, liveStreamId, broadcastId: 'brA' }, () => stopped.resolve());
  expect(open).toBeDefined();
  await stopped.promise;
  expect(looks).toBe(looksBefore + 1);
  expect(recordings.open({ projectId, liveStreamId, broadcastId: 'brB' }, () => {})).toBeUndefined();
});

test('recordings start again after the disk was full while none was open', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let free = 1e12;
  const { recordings } = recordingsWith({ freeBytes: () => free });
  await recordings.start();
  free = 0;
  vi.advanceTimersByTime(60_000);
  await waitUntil(() => linesOf('recording-disk-low').length > 0);
  free = 1e12;
  vi.advanceTimersByTime(60_000);
  await waitUntil(() => linesOf('recording-disk-recovered').length > 0);
  expect(recordings.open({ projectId, liveStreamId, broadcastId: 'brA' }, () => {})).toBeDefined();
});

describe('an orphaned recording', () => {
  test('becomes a video in the background', async () => {
    const videoId = await cutOff(6);
    let look = () => {};
    const looked = new Promise<void>(resolve => {
      look = resolve;
    });
    const { recordings } = recordingsWith({ probe: () => looked.then(() => probed) });
    await recordings.start();
    expect(await playable()).toEqual([]);
    expect(recordings.open({ projectId, liveStreamId, broadcastId: 'brB' }, () => {})).toBeDefined();
    look();
    const [video] = await waitForVideo();
    expect(video).toEqual({ id: videoId, title: titleOf('Harbour'), is_playable: 1 });
  });

  test('is complete when it has its final name already and an empty file beside it', async () => {
    const videoId = await cutOff(6);
    await rename(folderOf(videoId, 'recording-1.mp4'), folderOf(videoId, 'source'));
    await writeFile(folderOf(videoId, 'recording-2.mp4'), 'torn');
    const { recordings } = recordingsWith();
    await recordings.start();
    await waitForVideo();
    expect(await playable()).toMatchObject([{ id: videoId, is_playable: 1 }]);
    expect(readdirSync(folderOf(videoId)).filter(name => name.startsWith('recording'))).toEqual([]);
  });

  test('of several files is joined without a truncated one', async () => {
    const videoId = await cutOff(2);
    const bytes = statSync(folderOf(videoId, 'recording-1.mp4')).size;
    await copyFile(folderOf(videoId, 'recording-1.mp4'), folderOf(videoId, 'recording-2.mp4'));
    await writeFile(folderOf(videoId, 'recording-3.mp4'), 'torn');
    await appendFile(folderOf(videoId, 'recording-2.mp4'), 'torn');
    const { recordings } = recordingsWith();
    await recordings.start();
    await waitForVideo();
    expect(ordered).toEqual(['join']);
    const names = readdirSync(folderOf(videoId)).filter(name => name.startsWith('recording'));
    expect(names.toSorted()).toEqual(['recording-1.mp4', 'recording-2.mp4']);
    expect(statSync(folderOf(videoId, 'recording-2.mp4')).size).toBe(bytes);
  });

  test('is ignored when it has become a video', async () => {
    const videoId = await cutOff(6);
    const { recordings, pass } = recordingsWith({
      book: real => ({
        transaction: async work => {
          await real.transaction(work);
          return fail();
        },
      }),
    });
    await recordings.start();
    await waitUntil(() => linesOf('recording-unfinished').length > 0);
    const file = (await singleValue<string>(
      api.database,
      "SELECT file FROM renditions WHERE type = 'hls' AND file != ''",
    ))!;
    pass(31_000);
    await recordings.finishOrphaned();
    expect(existsSync(folderOf(videoId, file))).toBe(true);
    expect(linesOf('recording-unfinished')).toHaveLength(1);
  });
});

describe('a recording', () => {
  function record(recordings: Recordings, parts: Parameters<typeof part>[]): void {
    const open = recordings.open({ projectId, liveStreamId, broadcastId: 'brA' }, () => {})!;
    for (const one of parts) open.add(part(...one));
    open.close();
  }

  /** Takes parts, and writes none of them. */
  async function expectRefused(recordings: Recordings): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<unknown>();
    const open = recordings.open({ projectId, liveStreamId, broadcastId: 'brA' }, () => stopped.resolve())!;
    const folders = () => readdirSync(join(api.dataDir, 'vod'));
    const before = folders();
    open.add({ ...part(0), stored: location => lost.resolve(location) });
    await stopped.promise;
    expect(await lost.promise).toBeUndefined();
    await waitUntil(() => recordings.openCount === 0);
    expect(folders()).toEqual(before);
    expect(await rowsOf(api.database, 'SELECT video_id FROM recordings')).toEqual([]);
  }

  test('becomes a video although its closing could not be stored', async () => {
    const { recordings } = recordingsWith({ book: () => ({ close: fail }) });
    record(recordings, [[0], [1], [2]]);
    await waitForVideo();
    expect(await playable()).toMatchObject([{ title: titleOf('Harbour'), is_playable: 1 }]);
    expect(linesOf('recording-unfinished')).toEqual([]);
  });

  test('takes parts while it is being stored', async () => {
    const storing = Promise.withResolvers<void>();
    const { recordings } = recordingsWith({
      book: real => ({
        open: async recording => {
          await storing.promise;
          return real.open(recording);
        },
      }),
    });
    record(recordings, [[0], [1], [2]]);
    expect(existsSync(join(api.dataDir, 'vod')) ? await playable() : []).toEqual([]);
    storing.resolve();
    const [video] = await waitForVideo();
    expect(video).toMatchObject({ title: titleOf('Harbour'), is_playable: 1 });
    const facts = await singleValue<string>(api.database, 'SELECT facts FROM video_encodings');
    expect(JSON.parse(facts!).duration).toBe(3);
  });

  test('that cannot become a video keeps no file open and is retried with growing delays', async () => {
    let isFull = true;
    const { recordings, pass } = recordingsWith({
      book: real => ({ convertToVideo: (...args) => (isFull ? fail() : real.convertToVideo(...args)) }),
    });
    const tries = () => linesOf('recording-unfinished').length;
    record(recordings, [[0], [1], [2]]);
    await waitUntil(() => tries() === 1);
    expect(openFilesIn(join(api.dataDir, 'vod'))).toEqual([]);
    for (const [seconds, count] of [
      [29, 1],
      [2, 2],
      [31, 2],
      [30, 3],
    ] as const) {
      pass(seconds * 1000);
      await recordings.finishOrphaned();
      expect(tries()).toBe(count);
    }
    isFull = false;
    pass(121_000);
    await recordings.finishOrphaned();
    expect(await playable()).toMatchObject([{ is_playable: 1 }]);
  });

  test('without keyframes at the start of parts becomes a video', async () => {
    const { recordings } = recordingsWith();
    const other = [{ ...videoTrack, timescale: videoTrack.timescale * 2 }, audioTrack];
    record(recordings, [[0], [1, { isKeyframe: false }, other]]);
    await waitForVideo();
    expect(ordered).toEqual(['join']);
  });

  test('with seconds between keyframes is passed through, with a minute it is encoded', async () => {
    for (const [gop, jobs] of [
      [12, ['stills']],
      [60, ['prepare']],
    ] as const) {
      ordered = [];
      const { recordings } = recordingsWith();
      const before = (await playable()).length;
      record(
        recordings,
        Array.from({ length: 61 }, (_, second) => [second, { isKeyframe: second % gop === 0 }]),
      );
      await waitUntil(async () => (await playable()).length > before);
      expect(ordered.filter(kind => kind !== 'encode' && kind !== 'mp4')).toEqual(jobs);
    }
  });

  test('does not start for a deleted live stream', async () => {
    const { recordings } = recordingsWith();
    await api.call('DELETE', `/live-streams/${liveStreamId}`);
    await expectRefused(recordings);
  });

  test('stops, and no other starts, when its project may not store more', async () => {
    let mayStore = true;
    const { recordings } = recordingsWith({ mayStore: async () => mayStore });
    await recordings.start();
    let stops = 0;
    const broadcast = { projectId, liveStreamId, broadcastId: 'brA' };
    const open = recordings.open(broadcast, () => {
      stops += 1;
    })!;
    for (let second = 0; second < 3; second += 1) open.add(part(second));
    mayStore = false;
    await waitUntil(() => recordings.openCount === 0);
    expect(stops).toBe(1);
    expect(await playable()).toHaveLength(1);
    expect(linesOf('recording-stopped')).toEqual([
      expect.objectContaining({ data: expect.objectContaining({ reason: 'storage-limit' }) }),
    ]);
    const type = 'live-stream.recording.stopped';
    const stopped = 'SELECT payload FROM events WHERE type = ?';
    const payload = await singleValue<string>(api.database, stopped, type);
    expect(JSON.parse(payload!)).toMatchObject({ reason: 'storage-limit' });
    await expectRefused(recordings);
  });

  test('starts on a full disk only if the trash can free space', async () => {
    const broadcast = { projectId, liveStreamId, broadcastId: 'brA' };
    for (const [trashBytes, isBegun] of [
      [0.6e9, true],
      [0.4e9, false],
    ] as const) {
      let free = 0.5e9;
      const makeRoom: FreeDiskSpace = async missing => {
        if ((await missing()) <= trashBytes) free += trashBytes;
      };
      const { recordings } = recordingsWith({ freeBytes: () => free, makeRoom });
      await recordings.start();
      const open = recordings.open(broadcast, () => {});
      expect(open !== undefined).toBe(isBegun);
      open?.close();
    }
  });

  test('that is unfinished when the server stops is finished by the next start', async () => {
    const { recordings } = recordingsWith({
      probe: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    record(recordings, [[0], [1], [2]]);
    await recordings.stop();
    expect(await playable()).toEqual([]);
    expect(linesOf('recording-left-unfinished')).toHaveLength(1);
    const next = recordingsWith();
    await next.recordings.start();
    await waitForVideo();
    expect(await playable()).toMatchObject([{ is_playable: 1 }]);
  });
});
