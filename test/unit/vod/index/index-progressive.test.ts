import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { box, fullBox, u32 } from '../../../../src/media/cmaf/box-writer.ts';
import { DataFolderStorage } from '../../../../src/storage/data-folder-storage.ts';
import {
  type IndexProgressiveOptions,
  indexProgressive,
} from '../../../../src/vod/index/index-progressive.ts';
import type { OpenRendition } from '../../../../src/vod/index/rendition.ts';
import { RenditionReader } from '../../../../src/vod/index/rendition-reader.ts';
import { bytesOf } from '../../../media/serve-renditions.ts';
import {
  aacEntry,
  avcEntry,
  esdsBox,
  gops,
  type MadeMovie,
  type MadeTrack,
  makeMovie,
  quickTimeAudioEntry,
  sounds,
  unit,
} from '../../../support/progressive-movie.ts';
import { testTempDir } from '../../../support/temp-dir.ts';
import { readAll } from '../../media/cmaf/read-all.ts';

const dataFolder = new DataFolderStorage('/');

/** 25 frames a second, a keyframe every two seconds, for ten. */
const video: MadeTrack = { kind: 'video', timescale: 12_800, samples: gops([50, 50, 50, 50, 50], 512) };
/** Ten seconds of sound. */
const audio: MadeTrack = { kind: 'audio', timescale: 48_000, samples: sounds(469) };

async function indexed(movie: MadeMovie, options: Partial<IndexProgressiveOptions> = {}) {
  const folder = await testTempDir();
  const path = join(folder, 'source');
  await writeFile(path, movie.bytes);
  const signal = new AbortController().signal;
  const result = await indexProgressive(path, { folder, signal, ...options });
  return { result, folder };
}

async function opened(movie: MadeMovie, options: Partial<IndexProgressiveOptions> = {}) {
  const { result } = await indexed(movie, options);
  if (result.kind === 'refused') throw new Error(result.reason);
  const reader = new RenditionReader(dataFolder);
  return {
    result,
    video: result.video === undefined ? undefined : await reader.open(result.video.file),
    audio: result.audio === undefined ? undefined : await reader.open(result.audio.file),
  };
}

/** Reads like a player: all segments, one after the other, each of them beginning at its time. */
async function played(rendition: OpenRendition | undefined) {
  if (rendition === undefined) throw new Error('there is no such rendition');
  const parts = [rendition.init];
  for (let index = 0; index < rendition.segmentCount; index++) {
    const { parts: body, bytes } = await rendition.readSegment(index);
    parts.push(await bytesOf(body));
    expect(parts.at(-1)).toHaveLength(bytes);
  }
  const { samples, tracks } = readAll(Buffer.concat(parts));
  return { samples, timescale: tracks[0]!.timescale };
}

async function videoReason(track: Partial<MadeTrack>): Promise<string> {
  const { result } = await indexed(makeMovie([{ ...video, ...track }]));
  return result.kind === 'refused' ? result.reason : 'indexed';
}

describe('a file of H.264 and AAC', () => {
  const layouts: readonly (readonly [string, Partial<MadeTrack>, boolean])[] = [
    ['a chunk a frame', {}, false],
    ['the moov at its end', {}, true],
    ['chunks of seven frames', { samplesPerChunk: 7 }, false],
    ['one chunk a track', { samplesPerChunk: 1000 }, false],
    ['64 bit positions', { hasLongOffsets: true }, true],
  ];
  test.each(layouts)('gives every sample once, with %s', async (_, layout, isMovieLast) => {
    const movie = makeMovie(
      [
        { ...video, ...layout },
        { ...audio, ...layout },
      ],
      { isMovieLast },
    );
    const found = await opened(movie);
    for (const [track, rendition] of [found.video, found.audio].entries()) {
      const { samples } = await played(rendition);
      expect(samples.map(({ data }) => data)).toEqual(movie.data[track]);
    }
  });

  test('begins at ten seconds, with decode times that go on from segment to segment', async () => {
    const found = await opened(makeMovie([video, audio]));
    const { samples } = await played(found.video);
    expect(samples.map(({ dtsTicks }) => dtsTicks)).toEqual(samples.map((_, index) => 128_000 + 512 * index));
    const sound = await played(found.audio);
    expect(sound.samples.map(({ dtsTicks }) => dtsTicks)).toEqual(
      sound.samples.map((_, index) => 480_000 + 1024 * index),
    );
  });

  test('has segments of about four seconds that begin with keyframes, and the sound is cut with them', async () => {
    const found = await opened(makeMovie([video, audio]));
    expect(found.result).toMatchObject({ video: { segmentStartsSeconds: [0, 4, 8] } });
    const { samples } = await played(found.video);
    expect(samples.flatMap(({ isSync }, index) => (isSync ? [index] : []))).toEqual([0, 100, 200]);
    for (const [index, start] of [0, 4, 8].entries()) {
      expect(Math.abs(found.audio!.startSeconds(index) - start)).toBeLessThan(513 / 48_000);
    }
    expect(found.audio!.segmentCount).toBe(3);
  });

  test('describes the renditions', async () => {
    const { result } = await opened(makeMovie([video, audio]));
    expect(result).toMatchObject({
      video: {
        kind: 'video',
        codec: 'avc1.64000d',
        width: 320,
        height: 180,
        frameRate: 25,
        videoRange: 'SDR',
        timescale: 12_800,
        durationTicks: 128_000,
        maxSegmentDurationSeconds: 4,
      },
      audio: { kind: 'audio', codec: 'mp4a.40.2', channels: 2, sampleRate: 48_000, durationTicks: 480_256 },
    });
  });

  test('has earlier decode times in place of negative composition offsets, and is presented as before', async () => {
    const samples = gops([4, 4], 512).map((sample, index) => ({
      ...sample,
      offsetTicks: [0, 1024, -512, -512][index % 4]!,
    }));
    const found = await opened(makeMovie([{ ...video, samples }]));
    const read = await played(found.video);
    expect(read.samples.map(({ dtsTicks }) => dtsTicks)).toEqual(
      samples.map((_, index) => 128_000 - 512 + 512 * index),
    );
    expect(read.samples.map(({ compositionOffsetTicks }) => compositionOffsetTicks)).toEqual(
      samples.map(({ offsetTicks }) => offsetTicks + 512),
    );
    expect(found.video!.startSeconds(0)).toBe(0);
  });

  test('with a coarse timescale gets a finer one, so that audio and video stay in sync', async () => {
    const samples = gops([25, 25], 1);
    const edits = [[2000, 0]] as const;
    const found = await opened(
      makeMovie([
        { kind: 'video', timescale: 25, samples, edits },
        { ...audio, edits: [[10, -1], ...edits] },
      ]),
    );
    const { samples: frames, timescale } = await played(found.video);
    expect(timescale).toBe(8000);
    expect(frames[0]!.dtsTicks).toBe(80_000);
    expect(frames[1]!.dtsTicks).toBe(80_320);
    const sound = await played(found.audio);
    expect(sound.samples[0]!.dtsTicks).toBe(480_480);
  });

  test('may have no sync table', async () => {
    const samples = gops(
      Array.from({ length: 50 }, () => 1),
      2560,
    );
    const found = await opened(makeMovie([{ ...video, samples, hasNoSyncTable: true }]));
    expect(found.result).toMatchObject({ video: { segmentStartsSeconds: [0, 4, 8] } });
  });

  test('may leave the duration of the last frame out', async () => {
    const samples = gops([10], 512).map((sample, index) =>
      index === 9 ? { ...sample, durationTicks: 0 } : sample,
    );
    const found = await opened(makeMovie([{ ...video, samples }]));
    expect(found.video!.durationSeconds(0)).toBeCloseTo(0.4, 6);
  });

  test('has its tracks chosen by the caller, by their place in the file', async () => {
    const other = { ...video, samples: gops([25], 512) };
    const movie = makeMovie([video, audio, other]);
    const first = await opened(movie);
    expect(first.video!.renditionMetadata.durationTicks).toBe(128_000);
    const chosen = await opened(movie, { tracks: { video: 2 } });
    expect(chosen.video!.renditionMetadata.durationTicks).toBe(12_800);
  });

  test('has the sound taken that is not switched off', async () => {
    const movie = makeMovie([
      { ...audio, isEnabled: false },
      { ...audio, samples: sounds(47) },
    ]);
    const found = await opened(movie);
    expect((await played(found.audio)).samples).toHaveLength(47);
  });
});

describe('keyframes', () => {
  const cuts: readonly (readonly [string, number[], number[]])[] = [
    ['at the first one after four seconds', [30, 30, 30, 30, 130], [0, 4.8]],
    ['at an earlier one rather than after more than ten', [98, 240, 30], [0, 3.92, 13.52]],
    ['never in a GOP', [240, 240], [0, 9.6]],
    ['at none when the rest is short', [50, 50, 10], [0, 4]],
  ];
  test.each(cuts)('are cut at: %s', async (_, lengths, starts) => {
    const { result } = await opened(makeMovie([{ ...video, samples: gops(lengths, 512) }]));
    expect(result.video?.segmentStartsSeconds.map(start => Math.round(start * 100) / 100)).toEqual(starts);
  });

  test('that are ten seconds apart are near enough, eleven are not', async () => {
    expect(await videoReason({ samples: gops([250, 250], 512) })).toBe('indexed');
    expect(await videoReason({ samples: gops([50, 275, 50], 512) })).toMatch(
      /no keyframe for more than 10 s \(from 2 s on\)/,
    );
  });

  test('that are not IDR pictures begin no segment', async () => {
    const samples = gops([50, 50, 50, 50, 50], 512).map((sample, index) =>
      // A recovery point: parameter sets and a message, then a slice that is not of an IDR picture.
      index === 100 ? { ...sample, data: Buffer.concat([unit(7), unit(8), unit(6, 700), unit(1)]) } : sample,
    );
    const { result } = await opened(makeMovie([{ ...video, samples }]));
    expect(result).toMatchObject({ video: { segmentStartsSeconds: [0, 6] } });
  });

  test('are found behind other units, however long', async () => {
    const samples = gops([50, 50, 50], 512).map((sample, index) =>
      index === 100 ? { ...sample, data: Buffer.concat([unit(9, 2), unit(6, 5000), unit(5)]) } : sample,
    );
    const { result } = await opened(makeMovie([{ ...video, samples }]));
    expect(result).toMatchObject({ video: { segmentStartsSeconds: [0, 4] } });
  });
});

describe('an edit list', () => {
  const reordered = gops([50, 50], 512).map(sample => ({ ...sample, offsetTicks: 1024 }));

  test('that takes back the delay of B-frames moves nothing', async () => {
    const edits = [[4000, 1024]] as const;
    const found = await opened(makeMovie([{ ...video, samples: reordered, edits }]));
    const { samples } = await played(found.video);
    expect(samples[0]!.dtsTicks + samples[0]!.compositionOffsetTicks).toBe(128_000);
    expect(samples[0]!.dtsTicks).toBe(126_976);
  });

  test('keeps the offset between audio and video, and starts at ten seconds', async () => {
    const found = await opened(
      makeMovie([
        {
          ...video,
          edits: [
            [540, -1],
            [4000, 0],
          ],
        },
        {
          ...audio,
          edits: [
            [500, -1],
            [4000, 0],
          ],
        },
      ]),
    );
    expect(found.audio!.startSeconds(0)).toBe(0);
    expect(found.video!.startSeconds(0)).toBe(0);
    const { samples } = await played(found.video);
    expect(samples[0]!.dtsTicks).toBe(128_000);
    expect(samples[1]!.dtsTicks).toBe(129_024);
  });

  test('that hides what an encoder puts before the sound leaves one frame of it to the decoder', async () => {
    const found = await opened(makeMovie([video, { ...audio, edits: [[9000, 2112]] }]));
    const { samples } = await played(found.audio);
    expect(samples[0]!.dtsTicks).toBe(480_000 - 2112 + 1024);
    expect(samples[0]!.data.readUInt32BE(4)).toBe(1);
  });

  test('that ends early leaves the frames after its end out', async () => {
    const found = await opened(
      makeMovie([
        { ...video, edits: [[2000, 0]] },
        { ...audio, edits: [[2000, 0]] },
      ]),
    );
    expect((await played(found.video)).samples).toHaveLength(50);
    expect((await played(found.audio)).samples).toHaveLength(94);
  });

  test('that ends within a tick of the movie after the last frame begins keeps it, whatever its duration', async () => {
    // 58 frames of 30 a second, the last of which is said to last for nothing: the edit ends where it begins, rounded up.
    const samples = gops([58], 3000).map((sample, index) =>
      index === 57 ? { ...sample, durationTicks: 0 } : sample,
    );
    const made = { kind: 'video', timescale: 90_000, samples, edits: [[1900, 0]] } as const;
    expect((await played((await opened(makeMovie([made]))).video)).samples).toHaveLength(57);
    const found = await opened(makeMovie([{ ...made, edits: [[1901, 0]] }]));
    expect((await played(found.video)).samples).toHaveLength(58);
  });

  test('that ends early in a file that ffmpeg has put together ends nothing', async () => {
    const found = await opened(makeMovie([{ ...video, edits: [[2000, 0]] }]), { ignoresEditEnds: true });
    expect((await played(found.video)).samples).toHaveLength(250);
  });

  test('that begins with a later keyframe leaves the frames before it out', async () => {
    const found = await opened(makeMovie([{ ...video, edits: [[6000, 25_600]] }]));
    const { samples } = await played(found.video);
    expect(samples[0]!.data.readUInt32BE(9)).toBe(50);
    expect(samples[0]!.dtsTicks).toBe(128_000);
  });

  const refused: readonly (readonly [string, MadeTrack['edits'], RegExp])[] = [
    ['begins between keyframes', [[6000, 10_240]], /begins between two keyframes/],
    [
      'puts several pieces together',
      [
        [2000, 0],
        [2000, 51_200],
      ],
      /several pieces/,
    ],
    ['plays at another speed', [[2000, 0, 0x8000]], /several pieces/],
    ['shows nothing', [[2000, -1]], /several pieces/],
    ['begins after the end', [[2000, 999_999]], /shows no frame/],
  ];
  test.each(refused)('that %s is left to an encoder', async (_, edits, reason) => {
    expect(await videoReason({ edits: edits! })).toMatch(reason);
  });

  test('that ends among frames that need each other is left to an encoder', async () => {
    const samples = gops([4, 4], 512).map((sample, index) => ({
      ...sample,
      offsetTicks: [0, 1536, -512, -512][index % 4]!,
    }));
    // Decoded 0 3 1 2: an end after frame 1 leaves 3 before it.
    expect(await videoReason({ samples, edits: [[240, 0]] })).toMatch(/ends among frames/);
  });
});

describe('one of the two tracks', () => {
  test('that begins late must be encoded if it is audio', async () => {
    const { result } = await indexed(
      makeMovie([
        video,
        {
          ...audio,
          edits: [
            [500, -1],
            [9000, 0],
          ],
        },
      ]),
    );
    expect(result).toMatchObject({ video: {}, audioReason: 'its audio begins 0.50 s after the video' });
  });

  test('that begins late shows its first frame from the start if it is video', async () => {
    const found = await opened(
      makeMovie([
        {
          ...video,
          edits: [
            [500, -1],
            [10_000, 0],
          ],
        },
        audio,
      ]),
    );
    const { samples } = await played(found.video);
    expect(samples[0]).toMatchObject({ dtsTicks: 128_000, durationTicks: 6912 });
    expect(samples[1]!.dtsTicks).toBe(134_912);
    expect(found.video!.durationSeconds(0)).toBeCloseTo(4.5, 6);
  });

  test('that goes on after the other is cut every four seconds there', async () => {
    const found = await opened(makeMovie([{ ...video, samples: gops([50, 50], 512) }, audio]));
    const starts = Array.from({ length: 3 }, (_, index) => found.audio!.startSeconds(index));
    expect(found.audio!.segmentCount).toBe(3);
    for (const [index, start] of [0, 4, 8].entries()) expect(starts[index]).toBeCloseTo(start, 1);
  });

  const unfit: readonly (readonly [string, Partial<MadeTrack>, RegExp])[] = [
    ['HEVC', { entries: [avcEntry('hvc1')] }, /video is "hvc1"/],
    ['encrypted', { entries: [avcEntry('encv')] }, /video is "encv"/],
    ['without a configuration', { entries: [avcEntry('avc1', box('pasp', u32(1, 1)))] }, /broken sample/],
    ['of two sample descriptions', { entries: [avcEntry(), avcEntry()] }, /has 2 sample descriptions/],
    ['in another file', { referenceFlags: 0 }, /refers to another file/],
    [
      'of two frames at one time',
      {
        samples: gops([50], 512).map((sample, index) =>
          index === 10 ? { ...sample, offsetTicks: 512 } : sample,
        ),
      },
      /shows two frames at the same time/,
    ],
    ['without a keyframe', { samples: gops([50], 512).slice(1) }, /does not begin with a keyframe/],
    ['empty', { samples: [] }, /has no samples/],
    ['of frames without duration', { samples: gops([50], 0) }, /frames without duration/],
    [
      'longer than a day',
      { timescale: 1, samples: gops(Array(8700).fill(1), 10) },
      /is longer than 24 hours/,
    ],
    ['with a hole', { samples: gops([1, 1], 512_000) }, /has a gap of 40 s/],
    [
      'with an empty frame',
      { samples: gops([2], 512).map(s => ({ ...s, data: Buffer.alloc(0) })) },
      /without data/,
    ],
    [
      'of frames that reach over a keyframe',
      {
        samples: gops([100, 50], 512).map((s, i) => ({ ...s, offsetTicks: i === 99 ? 5120 : 0 })),
      },
      /reach across a keyframe/,
    ],
  ];
  test.each(unfit)(
    'that is %s is left to an encoder, and leaves nothing behind',
    async (_, track, reason) => {
      const { result, folder } = await indexed(makeMovie([{ ...video, ...track }]));
      expect(result).toEqual({ kind: 'refused', reason: expect.stringMatching(reason) });
      expect(await readdir(folder)).toEqual(['source']);
    },
  );

  test('that is no AAC is left to an encoder', async () => {
    const mp3 = { ...audio, entries: [aacEntry(esdsBox(0x6b))] };
    const { result, folder } = await indexed(makeMovie([video, mp3]));
    expect(result).toMatchObject({ video: {}, audioReason: 'its audio is mp4a.40.34' });
    expect((await readdir(folder)).sort()).toEqual(['source', 'video.index']);
  });

  test('whose sound jumps by days is refused before segments are counted through the jump', async () => {
    const samples = Array.from({ length: 800 }, (_, index) => ({
      durationTicks: 1000,
      offsetTicks: index < 797 ? 0 : 0x7fffffff - 600_000,
    }));
    const { result } = await indexed(makeMovie([video, { kind: 'audio', timescale: 4001, samples }]));
    expect(result).toMatchObject({ video: {}, audioReason: 'its audio jumps by 536587 s' });
  });

  test('that QuickTime describes in its own way is carried', async () => {
    const found = await opened(
      makeMovie([
        { ...video, entries: [Buffer.concat([avcEntry()])] },
        { ...audio, entries: [quickTimeAudioEntry()] },
      ]),
    );
    expect(found.audio!.renditionMetadata).toMatchObject({
      codec: 'mp4a.40.2',
      channels: 2,
      sampleRate: 48_000,
    });
    expect((await played(found.audio)).samples).toHaveLength(469);
  });
});

describe('a file that is not progressive', () => {
  test('is refused when it announces fragments', async () => {
    const mvex = box('mvex', fullBox('trex', 0, 0, u32(1, 1, 0, 0, 0)));
    const { result } = await indexed(makeMovie([video], { movieBoxes: [mvex] }));
    expect(result).toMatchObject({ kind: 'refused', reason: expect.stringMatching(/announces fragments/) });
  });

  test('is refused without a moov, cut off, or empty', async () => {
    const { bytes } = makeMovie([video]);
    for (const cut of [
      Buffer.alloc(0),
      bytes.subarray(0, 7),
      bytes.subarray(0, 100),
      bytes.subarray(0, -1),
    ]) {
      const { result } = await indexed({ bytes: cut, data: [] });
      expect(result.kind).toBe('refused');
    }
  });
});

test('indexing ends when nobody wants it any more', async () => {
  const controller = new AbortController();
  controller.abort(new Error('enough'));
  await expect(indexed(makeMovie([video]), { signal: controller.signal })).rejects.toThrow('enough');
});
