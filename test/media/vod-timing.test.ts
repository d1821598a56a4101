import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { withEarlierBlocks } from '../support/matroska.ts';
import { type MadeTrack, makeMovie } from '../support/progressive-movie.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';
import { readAll } from '../unit/media/cmaf/read-all.ts';
import { type DecodedFrame, decodeVideo } from './decoded.ts';
import { storeListed } from './listed-rendition.ts';

/** Times are rounded to milliseconds by FLV and MKV. */
const ROUNDING_SECONDS = 0.0011;
const FRAME_SECONDS = 0.04;
const START_SECONDS = 10;

let dataDir: string;
let shop: VodPipeline;

beforeAll(async () => {
  dataDir = await makeTempDir();
  shop = await startVodPipeline(dataDir, { preset: 'veryfast', hasImages: false });
});
afterAll(async () => {
  await shop.stop();
  await removeDir(dataDir);
});

const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-pix_fmt', 'yuv420p'];
const vp8 = ['-c:v', 'libvpx', '-cpu-used', '8', '-deadline', 'realtime'];
const aac = ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '64k'];

function picture(seconds: number, filters: string): string[] {
  const source = `testsrc2=size=160x120:rate=25:duration=${seconds}`;
  return ['-f', 'lavfi', '-i', filters === '' ? source : `${source},${filters}`];
}

function tone(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=sample_rate=48000:duration=${seconds}`];
}

/** Sound of long films: the server's coder of AAC takes a second for ten of a tone. */
function silence(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `anullsrc=r=48000:cl=mono:d=${seconds}`];
}

async function made(name: string, args: readonly string[]): Promise<string> {
  const path = join(dataDir, name);
  await runToEnd(ffmpegPath, ['-v', 'error', '-y', ...args, path]);
  return path;
}

async function played(path: string) {
  const videoId = await shop.add(path, { has_mp4_support: 0 });
  const state = await shop.settled(videoId);
  expect(state.failure).toBeUndefined();
  expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  const isPassthrough = state.renditions.some(({ file = '' }) => /video\.index$/.test(file));
  return {
    videoId,
    isPassthrough,
    sourceMetadata: state.sourceMetadata as { duration: number | null; framerate: number | null },
  };
}

/** Every frame at the time of the input. The default time base is that of a guessed frame rate. */
function decoded(path: string): Promise<DecodedFrame[]> {
  return decodeVideo(path, [], ['-enc_time_base', '1:90000']);
}

/** The video that the playlist lists: its frames, its segments, and the time from the first decoded sample to the end of the last. */
async function listed(videoId: string, rendition = '240p') {
  const path = join(dataDir, `${videoId}-${rendition}.mp4`);
  const extinf = await storeListed(shop.playback, videoId, rendition, path);
  const { samples, tracks } = readAll(await readFile(path));
  const decodedTicks = samples.reduce((sum, { durationTicks }) => sum + durationTicks, 0);
  return {
    frames: await decoded(path),
    extinf,
    seconds: extinf.reduce((sum, one) => sum + one, 0),
    decodedSeconds: decodedTicks / tracks[0]!.timescale,
  };
}

/**
 * Expects all frames of the source at their times, except for the first one of late video, which is shown from the
 * start.
 */
function expectTimes(frames: readonly DecodedFrame[], source: readonly DecodedFrame[]): void {
  expect(frames).toHaveLength(source.length);
  const offsets = frames.map(({ seconds }, index) => seconds - source[index]!.seconds).slice(1);
  expect(Math.max(...offsets) - Math.min(...offsets)).toBeLessThan(2 * ROUNDING_SECONDS);
  // The priming of audio may come before the first frame.
  for (const start of [frames[0]!.seconds, offsets[0]!]) {
    expect(Math.abs(start - START_SECONDS)).toBeLessThan(FRAME_SECONDS);
  }
}

describe('a variable frame rate', () => {
  const slides = (seconds: number) => picture(0.24, `setpts=PTS*25*${seconds}`);
  const gap = (from: number, to: number, end: number) =>
    picture(end, `select='lt(t,${from})+between(t,${to},${end})'`);
  const everyFrame = ['-force_key_frames', 'expr:1'];
  const still = ['-fps_mode', 'passthrough'];
  test.each<[string, string[], number, { isPassthrough: boolean }]>([
    [
      'slides of 6 s, with B-frames',
      [...slides(6), ...silence(36), ...still, ...h264, ...everyFrame, ...aac],
      36,
      { isPassthrough: true },
    ],
    [
      'slides of 9 s, encoded',
      [...slides(9), ...silence(54), ...still, ...vp8],
      54,
      { isPassthrough: false },
    ],
    ['slides of 12 s, too long to copy', [...slides(12), ...still, ...h264], 72, { isPassthrough: false }],
    [
      'slides whose last one has no duration',
      [...slides(7), ...still, ...h264],
      42,
      { isPassthrough: false },
    ],
    [
      'a gap between keyframes, with B-frames',
      [...gap(4, 9, 9.4), ...silence(9.4), ...still, ...h264, '-force_key_frames', '9', ...aac],
      9.44,
      { isPassthrough: true },
    ],
    [
      'a screencast that stands still, encoded',
      [...gap(4, 18, 18.2), ...silence(18.2), ...still, ...vp8],
      18.24,
      { isPassthrough: false },
    ],
    [
      'gaps before each keyframe',
      [...picture(12, "select='lt(mod(t,4),2)'"), ...still, ...h264, '-g', '50', '-sc_threshold', '0'],
      10,
      { isPassthrough: true },
    ],
  ])('shows every frame at its time, and no more: %s', async (name, args, seconds, expected) => {
    const source = await made(`${name}.${expected.isPassthrough ? 'mp4' : 'mkv'}`, args);
    const { videoId, isPassthrough, sourceMetadata } = await played(source);
    expect({ isPassthrough }).toEqual(expected);
    const found = await listed(videoId);
    expectTimes(found.frames, await decoded(source));
    // Allows a longer last frame: some files do not tell how long it is shown.
    const shown = found.frames.at(-1)!.seconds - START_SECONDS;
    expect(found.seconds).toBeGreaterThan(shown);
    expect(found.seconds).toBeLessThan(seconds + FRAME_SECONDS);
    expect(sourceMetadata.duration).toBeLessThanOrEqual(Math.round(seconds));
    // Players add up decode intervals.
    expect(Math.abs(found.decodedSeconds - found.seconds)).toBeLessThan(FRAME_SECONDS);
  });
});

describe('a format whose clock may change', () => {
  const slides = (seconds: number) => picture(0.16, `setpts=PTS*25*${seconds}`);
  const still = ['-fps_mode', 'passthrough'];
  const h265 = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'];
  const steps = (count: number, seconds: number) =>
    Array.from({ length: count }, (_, index) => index * seconds);
  const unpaused = steps(525, FRAME_SECONDS).filter(at => at < 3.99 || at > 18.99);
  const paused = "select='lt(t,4)+between(t,19,21)'";

  test.each<[string, string[], number[]]>([
    ['12 s, with sound.ts', [...slides(12), ...silence(48), ...still, ...h264, ...aac], steps(4, 12)],
    ['12 s, without.ts', [...slides(12), ...still, ...h264], steps(4, 12)],
    ['20 s, H.265.ts', [...slides(20), ...silence(80), ...still, ...h265, ...aac], steps(4, 20)],
    ['60 s, B-frames.ts', [...slides(60), ...still, ...h264], steps(4, 60)],
    ['60 s, MPEG-2.ts', [...slides(60), ...still, '-c:v', 'mpeg2video'], steps(4, 60)],
    ['12 s.mpg', [...slides(12), ...silence(48), ...still, '-c:v', 'mpeg2video', '-f', 'vob'], steps(4, 12)],
    ['1 s, B-frames.ts', [...picture(0.8, 'setpts=PTS*25'), ...still, ...h264], steps(20, 1)],
    ['pause.ts', [...picture(21, paused), ...silence(21), ...still, ...h264, ...aac], unpaused],
    ['pause, without sound.ts', [...picture(21, paused), ...still, ...h264], unpaused],
  ])('shows every picture at its time when pictures stand still: %s', async (name, args, expected) => {
    const { videoId } = await played(await made(name, args));
    const { frames } = await listed(videoId);
    expect(frames).toHaveLength(expected.length);
    for (const [index, { seconds }] of frames.entries()) {
      expect(Math.abs(seconds - START_SECONDS - expected[index]!)).toBeLessThan(FRAME_SECONDS);
    }
  });

  test('cuts a part of pictures that stand still', async () => {
    const source = await made('part.ts', [...slides(12), ...silence(48), ...still, ...h264, ...aac]);
    const videoId = await shop.add(source, {
      clip_start_ms: 22_000,
      clip_end_ms: 40_000,
      has_mp4_support: 0,
    });
    expect((await shop.settled(videoId)).failure).toBeUndefined();
    const { frames, seconds } = await listed(videoId);
    expect(frames.map(frame => Math.round(frame.seconds - frames.at(-1)!.seconds))).toEqual([-14, 0]);
    expect(Math.round(frames.at(-1)!.seconds - START_SECONDS)).toBe(14);
    expect(seconds).toBeLessThan(18 + FRAME_SECONDS);
  });

  test.each<[string, [number, number]]>([
    ['forwards', [0, 500]],
    ['backwards', [500, 0]],
  ])('plays pieces with clocks of their own one after the other: %s', async (name, offsets) => {
    const pieces: Buffer[] = [];
    for (const offset of offsets) {
      const args = [...picture(4, ''), ...tone(4), ...h264, ...aac, '-output_ts_offset', String(offset)];
      pieces.push(await readFile(await made(`piece-${name}-${offset}.ts`, args)));
    }
    const source = join(dataDir, `${name}.ts`);
    await writeFile(source, Buffer.concat(pieces));
    const { videoId, sourceMetadata } = await played(source);
    expect(sourceMetadata.duration).toBe(8);
    const { frames, seconds } = await listed(videoId);
    expect(frames).toHaveLength(200);
    expect(Math.abs(seconds - 8)).toBeLessThan(0.1);
  });
});

/** The tracks of a file that ffmpeg makes, with the samples as they are in it. */
async function tracksOf(name: string, args: readonly string[]): Promise<MadeTrack[]> {
  const path = await made(name, [...args, '-movflags', '+frag_keyframe+empty_moov+default_base_moof']);
  const { tracks, samples } = readAll(await readFile(path));
  return tracks.map(({ id, kind, timescale, sampleEntry }) => ({
    kind,
    timescale,
    entries: [sampleEntry],
    samples: samples
      .filter(({ trackId }) => trackId === id)
      .map(({ durationTicks, compositionOffsetTicks: offsetTicks, isSync, data }) => ({
        durationTicks,
        offsetTicks,
        isSync,
        data,
      })),
  }));
}

async function madeMovie(name: string, tracks: readonly MadeTrack[]): Promise<string> {
  const path = join(dataDir, name);
  await writeFile(path, makeMovie(tracks).bytes);
  return path;
}

describe('a track of which a copy would lose something', () => {
  const gops = [...h264, '-bf', '0', '-g', '25', '-sc_threshold', '0'];
  let colours: MadeTrack[];
  beforeAll(async () => {
    const inputs = ['red', 'lime', 'blue'].map(
      (color, index) => `color=${color}:s=160x120:r=25:d=2[c${index}]`,
    );
    const film = ['-f', 'lavfi', '-i', `${inputs.join(';')};[c0][c1][c2]concat=n=3`];
    colours = await tracksOf('colours.mp4', [...film, ...tone(6), ...gops, ...aac]);
  });

  test.each<[string, string[], string]>([
    ['other coding tools', ['-x264-params', 'cabac=0:ref=3'], 'size=160x120'],
    ['another size', [], 'size=120x160'],
  ])('is encoded: two sample entries with %s', async (name, more, size) => {
    const parts = [
      await tracksOf(`${name}-1.mp4`, [...picture(2, ''), ...gops]),
      await tracksOf(`${name}-2.mp4`, [
        ...picture(2, 'hue=h=90').map(arg => arg.replace('size=160x120', size)),
        ...[...gops, ...more],
      ]),
    ].map(([track]) => track!);
    const source = await madeMovie(`${name}.mp4`, [
      {
        ...parts[0]!,
        samples: parts.flatMap(({ samples }) => samples),
        samplesPerChunk: 50,
        entries: parts.flatMap(({ entries = [] }) => entries),
        entryOfChunk: [1, 2],
      },
    ]);
    const { videoId, isPassthrough } = await played(source);
    expect(isPassthrough).toBe(false);
    const found = await listed(videoId);
    expect(found.frames).toHaveLength(100);
    expectTimes(found.frames, await decoded(source));
  });

  test.each([0, 1024])(
    'is encoded: reordered frames that all have the composition offset %i',
    async offsetTicks => {
      const [video] = await tracksOf(`reordered-${offsetTicks}.mp4`, [...picture(2, ''), ...h264]);
      const samples = video!.samples.map(sample => ({ ...sample, offsetTicks }));
      const source = await madeMovie(`unordered-${offsetTicks}.mp4`, [{ ...video!, samples }]);
      const { videoId, isPassthrough } = await played(source);
      expect(isPassthrough).toBe(false);
      const { frames } = await listed(videoId);
      // Two frames have one time until ffmpeg knows how far frames are reordered, and one of them may be left out.
      expect(frames.length).toBeGreaterThanOrEqual(49);
      const steps = frames.slice(1).map(({ seconds }, index) => seconds - frames[index]!.seconds);
      expect(Math.min(...steps)).toBeGreaterThan(0);
      expect(Math.max(...steps)).toBeLessThan(4 * FRAME_SECONDS);
    },
  );

  test.each<[string, NonNullable<MadeTrack['edits']>, NonNullable<MadeTrack['edits']>]>([
    [
      'of both tracks',
      [
        [2000, 0],
        [2000, 4],
      ],
      [
        [2000, 0],
        [2000, 4],
      ],
    ],
    [
      'of the video only, between keyframes',
      [
        [1000, 0.52],
        [1000, 4.52],
      ],
      [[2000, 0]],
    ],
    [
      'of the audio only',
      [[4000, 0]],
      [
        [2000, 0],
        [2000, 4],
      ],
    ],
    [
      'after an empty one',
      [
        [400, -1],
        [2000, 1],
        [1000, 4],
      ],
      [[3400, 0]],
    ],
  ])('is encoded: several edits %s', async (name, ofVideo, ofAudio) => {
    const [video, audio] = colours;
    const inTicks = (edits: NonNullable<MadeTrack['edits']>, timescale: number) =>
      edits.map(([ms, at]) => [ms, at < 0 ? -1 : Math.round(at * timescale)] as const);
    const source = await madeMovie(`edited ${name}.mp4`, [
      { ...video!, edits: inTicks(ofVideo, video!.timescale) },
      { ...audio!, edits: inTicks(ofAudio, audio!.timescale) },
    ]);
    const { videoId, isPassthrough } = await played(source);
    expect(isPassthrough).toBe(false);
    const found = await listed(videoId);
    expectTimes(found.frames, await decoded(source));
  });
});

test('a rendition that is copied and one that is encoded begin together after a subtitle', async () => {
  const subtitle = join(dataDir, 'first.srt');
  await writeFile(subtitle, '1\n00:00:00,000 --> 00:00:01,000\nFirst\n');
  const source = await made('late.mkv', [
    ...['-i', subtitle, ...picture(3, 'scale=640x360,setsar=1'), ...tone(3)],
    ...['-map', '1:v', '-map', '2:a', '-map', '0:s', '-fps_mode', 'passthrough', ...h264],
    ...['-vf', 'setpts=PTS+0.08/TB'],
    ...['-af', 'asetpts=PTS+0.12/TB', '-c:a', 'ac3', '-c:s', 'copy'],
  ]);
  const { videoId, isPassthrough } = await played(source);
  expect(isPassthrough).toBe(true);
  const copied = await listed(videoId, '360p');
  const encoded = await listed(videoId, '240p');
  expect(copied.frames).toHaveLength(75);
  expect(Math.abs(copied.frames[0]!.seconds - START_SECONDS)).toBeLessThan(ROUNDING_SECONDS);
  for (const [index, { seconds }] of encoded.frames.entries()) {
    expect(Math.abs(seconds - copied.frames[index]!.seconds)).toBeLessThan(2 * ROUNDING_SECONDS);
  }
});

describe('Matroska with times below zero', () => {
  const many = ['-cluster_time_limit', '400'];
  test.each<[string, number, string[]]>([
    ['a second, copied.mkv', 1000, [...h264, '-g', '25', ...aac]],
    ['several frames, encoded.mkv', 200, [...h264, '-bf', '2', '-pix_fmt', 'yuv444p', ...aac, ...many]],
    ['without an index.mkv', 700, [...h264, '-pix_fmt', 'yuv444p', '-live', '1', '-c:a', 'libopus']],
    ['more than a cluster, H.265.mkv', 900, ['-c:v', 'libx265', '-preset', 'ultrafast', ...aac, ...many]],
  ])('keeps every frame: %s', async (name, ticks, codecs) => {
    const source = await made(`before ${name}`, [...picture(3, ''), ...tone(3), ...codecs]);
    const moved = join(dataDir, name);
    await writeFile(moved, withEarlierBlocks(await readFile(source), ticks));
    const { videoId } = await played(moved);
    expectTimes((await listed(videoId)).frames, await decoded(source));
  });
});

test('an edit that begins between two keyframes, of duration 0, goes on to the end', async () => {
  const film = await made('film.mp4', [...picture(4, ''), ...tone(4), ...h264, '-g', '100', ...aac]);
  const source = await made('cut film.mp4', ['-ss', '1.4', '-i', film, '-c', 'copy']);
  const bytes = await readFile(source);
  for (let at = bytes.indexOf('elst'); at !== -1; at = bytes.indexOf('elst', at + 4)) {
    bytes.writeUInt32BE(0, at + 12 + 12 * (bytes.readUInt32BE(at + 8) - 1));
  }
  const open = join(dataDir, 'open.mp4');
  await writeFile(open, bytes);
  const { videoId, sourceMetadata } = await played(open);
  expect(sourceMetadata.duration).toBe(3);
  const { frames } = await listed(videoId);
  expect(frames).toHaveLength(65);
  expectTimes(frames, await decoded(source));
});

test.each<[string, string[]]>([
  ['MPEG-4.avi', ['-c:v', 'mpeg4', '-bf', '1', '-c:a', 'libmp3lame']],
  ['50 frames a second.avi', ['-r', '50', '-c:v', 'mpeg4', '-bf', '1', '-c:a', 'libmp3lame']],
  ['MPEG-2.ts', ['-r', '50', '-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'mp2']],
])('segments of video and audio begin within a frame of each other: %s', async (name, codecs) => {
  const { videoId } = await played(await made(name, [...picture(6, ''), ...tone(6), ...codecs]));
  const starts = async (rendition: string) => {
    const path = join(dataDir, `${videoId}-${rendition}.mp4`);
    const extinf = await storeListed(shop.playback, videoId, rendition, path);
    const { samples, tracks } = readAll(await readFile(path));
    const { dtsTicks, compositionOffsetTicks } = samples[0]!;
    const { timescale } = tracks[0]!;
    const frameSeconds = samples[1]!.durationTicks / timescale;
    const start = (dtsTicks + compositionOffsetTicks) / timescale;
    return extinf.map((_, index) => {
      const at = extinf.slice(0, index).reduce((sum, seconds) => sum + seconds, start);
      return { at, frameSeconds };
    });
  };
  const [video, audio] = [await starts('240p'), await starts('audio')];
  expect(video).toHaveLength(audio.length);
  for (const [index, { at, frameSeconds }] of video.entries()) {
    const longest = Math.max(frameSeconds, audio[index]!.frameSeconds);
    expect(Math.abs(at - audio[index]!.at)).toBeLessThan(longest + ROUNDING_SECONDS);
  }
});

test('samples of the audio that are no numbers do not fail the video', async () => {
  const source = await made('nan.mkv', [
    ...[...picture(2, ''), '-f', 'lavfi', '-i', "aevalsrc='if(between(t,1,1.01),0/0,sin(2000*t))':d=2"],
    ...[...h264, '-c:a', 'pcm_f32le'],
  ]);
  await played(source);
});

describe('a source without times', () => {
  test('shows frames of AVI files in their order', async () => {
    const source = await made('reordered.avi', [...picture(4, ''), ...h264, '-g', '50']);
    const { videoId, isPassthrough } = await played(source);
    expect(isPassthrough).toBe(false);
    const { frames } = await listed(videoId);
    expect(frames).toHaveLength(100);
    // ffmpeg guesses a late start, so that the first frame is shown from the beginning.
    for (const [index, { seconds }] of frames.slice(1).entries()) {
      expect(Math.abs(seconds - frames[1]!.seconds - index * FRAME_SECONDS)).toBeLessThan(ROUNDING_SECONDS);
    }
  });

  test('keeps all frames of raw H.264 that states 1000 frames a second', async () => {
    const source = await made('clock.h264', [
      ...[...picture(4, ''), ...h264, '-x264-params', 'timebase=1/2000:force-cfr=1:fps=1000/1'],
    ]);
    const { videoId, sourceMetadata } = await played(source);
    expect(sourceMetadata.duration).toBe(4);
    expect((await listed(videoId)).frames).toHaveLength(100);
  });

  test.each([
    ['H.264', 'stated.h264', 50, ['-c:v', 'libx264', '-preset', 'ultrafast']],
    // The fields have the rate that ffprobe assumes.
    ['H.264 at half of 25', 'half.h264', 12.5, ['-c:v', 'libx264', '-preset', 'ultrafast']],
    [
      'H.265',
      'stated.hevc',
      50,
      ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'],
    ],
    ['MPEG-2', 'stated.m2v', 50, ['-c:v', 'mpeg2video']],
  ] as const)('tells the frame rate that raw %s states', async (_, name, rate, encoder) => {
    const source = await made(name, [...picture(2, `setpts=N/${rate}/TB`), '-r', String(rate), ...encoder]);
    expect((await played(source)).sourceMetadata).toMatchObject({
      framerate: Math.round(rate),
      duration: 50 / rate,
    });
  });
});

test('a stated rate of 120 frames a second adds no frames, and is not repeated', async () => {
  const source = await made('stated.mkv', [...picture(4, ''), ...h264]);
  const bytes = await readFile(source);
  // DefaultDuration, in nanoseconds: its length is in the low bits of the byte behind its name.
  const at = bytes.indexOf(Buffer.from('23e383', 'hex')) + 3;
  bytes.writeUIntBE(8_333_333, at + 1, bytes[at]! & 0x7f);
  await writeFile(source, bytes);
  const { videoId, sourceMetadata } = await played(source);
  expect(sourceMetadata).toMatchObject({ framerate: 25, duration: 4 });
  const { frames } = await listed(videoId);
  expectTimes(frames, await decoded(source));
});
