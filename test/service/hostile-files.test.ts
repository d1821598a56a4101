import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { u8 } from '../../src/media/cmaf/box-writer.ts';
import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import { parseInitSegment } from '../../src/media/cmaf/init-segment.ts';
import { readDeclaredMedia } from '../../src/media/flv/declared-media.ts';
import { readFlvTags } from '../../src/media/flv/flv-reader.ts';
import {
  compositionOffsetMs,
  describeAudioTag,
  describeVideoTag,
  flvHeader,
  flvTagEnvelope,
} from '../../src/media/flv/flv-tag.ts';
import { splitAggregate } from '../../src/media/rtmp/aggregate-message.ts';
import { AppError } from '../../src/shared/errors.ts';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { GrowingRendition } from '../../src/vod/index/growing-rendition.ts';
import { IndexWorkerPool } from '../../src/vod/index/index-worker-pool.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { recordOf, targetDurationOf } from '../../src/vod/playback/rendition-record.ts';
import { formatVodPlaylist } from '../../src/vod/playback/vod-playlists.ts';
import { encodeAmf0 } from '../support/amf0.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { allowedBlockMs, maxBlockMsOf } from '../support/event-loop-block.ts';
import { formWith } from '../support/images.ts';
import { goodKey, startIngest } from '../support/ingest-client.ts';
import { mutateFlv, mutateMp4, mutateWebVtt } from '../support/media-mutations.ts';
import { openFilesIn } from '../support/open-files.ts';
import { gops, makeMovie, quickTimeAudioEntry, sounds } from '../support/progressive-movie.ts';
import { Random } from '../support/random.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startApi } from '../support/start-api.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { fixture } from '../unit/media/cmaf/read-all.ts';

const dataFolder = new DataFolderStorage('/');

/** Mutants of each kind; for longer runs, `MILLRACE_TEST_MUTANTS=20000 MILLRACE_TEST_SEED=7`. */
const mutants = Number(process.env.MILLRACE_TEST_MUTANTS ?? 100);
const firstSeed = Number(process.env.MILLRACE_TEST_SEED ?? 20_261_122);

/** Maximum memory that all mutants together leave behind: compiled code and caches. */
const MAX_GROWTH_BYTES = 16 * 2 ** 20;
const MIB = 2 ** 20;
const PIPE_BYTES = 64 * 1024;

// Longer runs take longer.
vi.setConfig({ testTimeout: 300_000 + mutants * 1000 });

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs mutants one after the other; none may block the event loop, and their memory is given back. */
async function survive<Mutant>(
  make: (random: Random) => Mutant,
  run: (mutant: Mutant) => Promise<void> | void,
): Promise<void> {
  const tried = (seed: number) => ({ seed, mutant: make(new Random(seed)) });
  // Compiles the code, so that only work is measured.
  for (let warmUp = 0; warmUp < 10; warmUp++) await run(tried(firstSeed + warmUp).mutant);
  const before = memoryInUse();
  for (let seed = firstSeed; seed < firstSeed + mutants; seed++) {
    const { mutant } = tried(seed);
    expect(
      await maxBlockMsOf(() => run(mutant)),
      `CPU milliseconds in one turn with the mutant of seed ${seed}`,
    ).toBeLessThan(allowedBlockMs);
  }
  await waitUntil(() => memoryInUse() - before < MAX_GROWTH_BYTES, {
    what: () => `the memory: ${Math.round((memoryInUse() - before) / MIB)} MiB more than before`,
  });
}

/** Lets pass what parsers throw on purpose. */
function refusing<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return undefined;
    throw error;
  }
}

const edits = [
  [20, -1],
  [6000, 1024],
] as const;
const picture = {
  kind: 'video',
  timescale: 12_800,
  samples: gops([50, 50, 50, 50], 512).map(sample => ({ ...sample, offsetTicks: 1024 })),
} as const;
const sound = { kind: 'audio', timescale: 48_000, samples: sounds(380), samplesPerChunk: 3 } as const;
const offsetSound = { ...sound, samples: sound.samples.map(sample => ({ ...sample, offsetTicks: 1 })) };

const files = {
  mp4: makeMovie([
    { ...picture, edits },
    { ...offsetSound, edits },
  ]).bytes,
  mov: makeMovie(
    [
      { ...picture, hasLongOffsets: true },
      { ...sound, entries: [quickTimeAudioEntry()] },
    ],
    { isMovieLast: true },
  ).bytes,
};

const folder = await makeTempDir();
afterAll(() => removeDir(folder));

test.each(['mp4', 'mov'] as const)('mutants of a %s file are indexed or refused', async name => {
  const path = join(folder, 'source');
  const threads = new IndexWorkerPool({ timeoutMs: 60_000, memoryBytes: 64 * MIB, maxMovieBytes: 32 * MIB });
  onTestFinished(() => threads.stop());
  const outcomes = { indexed: 0, refused: 0 };
  await survive(
    random => mutateMp4(files[name], random),
    async mutant => {
      await writeFile(path, mutant);
      await threads.describe(path, new AbortController().signal);
      const result = await threads.index(path, { folder, signal: new AbortController().signal });
      outcomes[result.kind] += 1;
      if (result.kind === 'refused') {
        expect(result.reason).not.toMatch(/reading its index/);
        return;
      }
      // Does the same as the job that prepares a video and the delivery of its playlists.
      const reader = new RenditionReader(dataFolder);
      const target = targetDurationOf([result.video, result.audio]);
      for (const indexed of [result.video, result.audio]) {
        if (indexed === undefined) continue;
        const rendition = await reader.open(indexed.file);
        recordOf(rendition, 1, target);
        formatVodPlaylist({ rendition, generation: 1, targetDurationSeconds: target, isComplete: true });
        for (let index = 0; index < rendition.segmentCount; index++) await rendition.readSegment(index);
      }
    },
  );
  expect(outcomes.indexed).toBeGreaterThan(0);
  expect(outcomes.refused).toBeGreaterThan(0);
  await threads.stop();
  expect([threads.threads, openFilesIn(folder)]).toEqual([0, []]);
});

test('mutants of fragmented files are read or refused', async () => {
  const path = join(folder, 'growing.mp4');
  const valid = ['h264-5', 'aac-5', 'hevc-hlg-5', 'opus-5'].map(fixture);
  await survive(
    random => mutateMp4(random.pick(valid), random),
    async mutant => {
      refusing(() => parseInitSegment(mutant));
      const reader = new FragmentReader({ onInit: () => {}, onSample: () => {} });
      try {
        // Pushes pieces as a pipe delivers them.
        for (let at = 0; at < mutant.length; at += PIPE_BYTES) {
          reader.push(mutant.subarray(at, at + PIPE_BYTES));
          await nextTurn();
        }
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'media-malformed')) throw error;
      }
      await writeFile(path, mutant);
      const rendition = new GrowingRendition({ path });
      try {
        await rendition.poll();
        await rendition.finish();
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'media-malformed')) throw error;
      } finally {
        await rendition.close();
      }
    },
  );
  expect(openFilesIn(folder)).toEqual([]);
});

/** A second of H.264 and AAC as encoders send it, its metadata first. */
function makeFlv(): Buffer {
  const tag = (type: 'audio' | 'video', timestampMs: number, ...body: Buffer[]) => {
    const bytes = Buffer.concat(body);
    const [head, tail] = flvTagEnvelope(type, timestampMs, bytes.length);
    return Buffer.concat([head, bytes, tail]);
  };
  const metadata = encodeAmf0('onMetaData', {
    videodatarate: 2500,
    framerate: 30,
    audiodatarate: 128,
    audiocodecid: 10,
  });
  const script = tag('video', 0, metadata);
  script[0] = 18;
  return Buffer.concat([
    flvHeader(true, true),
    script,
    tag('video', 0, Buffer.from('1700000000014d401effe10004674d401e01000468ee3c80', 'hex')),
    tag('audio', 0, Buffer.from('af001190', 'hex')),
    ...Array.from({ length: 30 }, (_, index) =>
      Buffer.concat([
        tag('video', index * 33, u8(index === 0 ? 0x17 : 0x27, 1, 0, 0, 0), Buffer.alloc(60, index)),
        tag('audio', index * 33, u8(0xaf, 1), Buffer.alloc(20, index)),
      ]),
    ),
  ]);
}

test('mutants of an FLV file are published or refused', async () => {
  const door = await startIngest({ maxMessageRate: 1_000_000 });
  onTestFinished(() => door.server.stop());
  const valid = makeFlv();
  const types = { audio: 8, video: 9, script: 18 } as const;
  await survive(
    random => mutateFlv(valid, random),
    async mutant => {
      const tags = refusing(() => readFlvTags(mutant)) ?? [];
      refusing(() => splitAggregate(mutant.subarray(13), 0));
      const client = await RtmpClient.connect({ port: door.port });
      await client.publish(goodKey);
      client.sendMessage({ type: 22, payload: mutant.subarray(13), messageStreamId: 1, chunkStreamId: 4 });
      for (const { kind, timestampMs, body } of tags.slice(0, 200)) {
        client.sendMessage({
          type: types[kind],
          payload: body,
          timestampMs,
          messageStreamId: 1,
          chunkStreamId: 6,
        });
      }
      client.socket.end();
      await client.closed();
      const publisher = door.publishers.pop();
      await waitUntil(() => publisher?.closeReasons.length === 1);
      for (const { kind, body } of [...tags, ...(publisher?.tags ?? [])]) {
        if (kind === 'script') readDeclaredMedia(body);
        else if (kind === 'audio') describeAudioTag(body);
        else if (describeVideoTag(body) !== undefined) compositionOffsetMs(body);
      }
      door.log.length = 0;
    },
  );
});

test('mutants of WebVTT and SubRip files are stored or refused', async () => {
  const dataDir = await testTempDir();
  const server = await startApi({ isUpgraded: true, dataDir });
  onTestFinished(() => server.stop());
  const { videoId } = (await server.call('POST', '/videos', { body: { title: 'A video' } })).json;
  const times = Array.from({ length: 20 }, (_, index) => `00:00:${String(index).padStart(2, '0')}`);
  const webVtt = times.map(
    (time, index) => `${index}\n${time}.000 --> ${time}.900 line:10% align:start\n<v Ann>Hello <b>there</b>`,
  );
  const subRip = times.map(
    (time, index) => `${index}\n${time},000 --> ${time},900\n<font color="red">Hello <b>there</b></font>`,
  );
  const valid = [['WEBVTT', ...webVtt].join('\n\n'), subRip.join('\n\n')];
  const statuses = new Set<number>();
  await survive(
    random => {
      const maxBytes = random.below(20) === 0 ? 8 * MIB : MIB / 4;
      return Buffer.from(mutateWebVtt(random.pick(valid), random, maxBytes)).subarray(0, maxBytes);
    },
    async mutant => {
      const body = formWith(['file', mutant, 'a.vtt']);
      const answer = await server.call('POST', `/videos/${videoId}/captions/en`, { body });
      statuses.add(answer.status);
    },
  );
  expect([...statuses].filter(status => status !== 200 && status !== 400)).toEqual([]);
});
