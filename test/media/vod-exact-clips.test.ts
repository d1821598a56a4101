import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { TIMELINE_START_SECONDS } from '../../src/vod/index/rendition.ts';
import {
  countedAudio,
  countedVideo,
  readCounters,
  readTimedCounters,
  readToneSeconds,
} from '../support/counted-film.ts';
import { ffmpegPath, ffprobe, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { decodeVideo } from './decoded.ts';
import { VideoServer } from './vod-server-fixture.ts';

/** AAC frames last 21 ms. */
const audioFrameSeconds = 0.0214;

let folder: string;
let server: VideoServer;

beforeAll(async () => {
  folder = await makeTempDir();
  server = await VideoServer.start(join(folder, 'data'), { MILLRACE_ENCODE_PRESET: 'ultrafast' });
  server.leaveOutImages();
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

const h264 = ['-c:v', 'libx264', '-preset', 'superfast', '-pix_fmt', 'yuv420p', '-sc_threshold', '0'];
const aac = ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '96k'];

async function made(name: string, args: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await runToEnd(ffmpegPath, ['-y', '-loglevel', 'error', ...args, path]);
  return path;
}

async function upload(path: string): Promise<string> {
  const { videoId } = await server.create({ mp4Support: false });
  expect(await server.send(videoId, await readFile(path))).toBe(201);
  await server.untilDone(videoId);
  return videoId;
}

async function clip(source: string, values: Record<string, unknown>): Promise<string> {
  const { videoId } = await server.create({ source, clip: values, mp4Support: true });
  await server.untilDone(videoId);
  return videoId;
}

function jobsOf(videoId: string): string[] {
  return server.process.lines
    .filter(line => line.includes('"event":"video-job-done"') && line.includes(videoId))
    .map(line => (JSON.parse(line) as { job: string }).job);
}

function timecode(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, -1);
}

async function addressesOf(videoId: string) {
  const manifest = new URL(`/vod/${videoId}/hls/manifest.m3u8`, server.process.baseUrl).href;
  const { variants } = parseMultivariantPlaylist(await (await fetch(manifest)).text());
  const byRate = variants.toSorted((one, other) => one.bandwidthBitsPerSecond - other.bandwidthBitsPerSecond);
  return {
    manifest,
    renditions: byRate.map(({ uri }) => new URL(uri, manifest).href),
    mp4: new URL(`/vod/${videoId}/mp4/source.mp4`, server.process.baseUrl).href,
  };
}

async function secondsOfPlaylist(url: string): Promise<number> {
  const text = await (await fetch(url)).text();
  return [...text.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** The duration of the video, and the seconds by which its first frame comes after the first sound. */
async function timesOf(url: string): Promise<{ videoSeconds: number; videoDelay: number }> {
  const fields = 'stream=codec_type,start_time,duration';
  const lines = (await ffprobe(['-v', 'error', '-show_entries', fields, '-of', 'csv=p=0', url])).trim();
  const streams = lines.split('\n').map(line => line.split(','));
  const numbersOf = (kind: string, field: number) =>
    streams.filter(([type]) => type === kind).map(values => Number(values[field]));
  return {
    videoSeconds: numbersOf('video', 2)[0] ?? Number.NaN,
    videoDelay: Math.max(0, Math.min(...numbersOf('video', 1)) - Math.min(...numbersOf('audio', 1))),
  };
}

async function expectSound(
  url: string,
  at: (seconds: number) => number,
  seconds: number,
  { stream = '0:a:0', videoDelay }: { stream?: string; videoDelay?: number } = {},
) {
  const delay = videoDelay ?? (await timesOf(url)).videoDelay;
  const times = [0.5, seconds - 0.5];
  const told = await readToneSeconds(
    url,
    times.map(atSeconds => atSeconds + delay),
    stream,
  );
  for (const [index, atSeconds] of times.entries())
    expect(Math.abs(told[index]! - at(atSeconds))).toBeLessThan(audioFrameSeconds);
}

/** Asserts that a clip is copied, and has the frames of its part in all renditions. */
async function expectExact(videoId: string, expected: readonly number[], rate: number): Promise<void> {
  expect(jobsOf(videoId)).not.toContain('prepare');
  await expectFrames(videoId, expected, rate);
}

async function expectFrames(videoId: string, expected: readonly number[], rate: number): Promise<void> {
  const { renditions, mp4, manifest } = await addressesOf(videoId);
  const seconds = expected.length / rate;
  for (const address of renditions) {
    const { counters, startSeconds } = await readTimedCounters(address);
    expect(counters).toEqual(expected);
    expect(Math.abs(startSeconds - TIMELINE_START_SECONDS)).toBeLessThan(0.002);
    expect(Math.abs((await secondsOfPlaylist(address)) - seconds)).toBeLessThan(1 / rate);
  }
  expect(await readCounters(mp4)).toEqual(expected);
  const { videoSeconds, videoDelay } = await timesOf(mp4);
  expect(Math.abs(videoSeconds - seconds)).toBeLessThan(1 / rate);
  const { encoding } = (await server.status(videoId)) as unknown as {
    encoding: { metadata: { duration: number } };
  };
  expect(encoding.metadata.duration).toBe(Math.round(await secondsOfPlaylist(renditions.at(-1)!)));
  const at = (clipSeconds: number) => expected[0]! / rate + clipSeconds;
  await expectSound(mp4, at, seconds, { videoDelay });
  await expectSound(manifest, at, seconds);
}

type Part = readonly [name: string, from: number, to: number];

const someParts: readonly Part[] = [['between keyframes', 5.2, 9.48]];
const allParts: readonly Part[] = [
  ...someParts,
  ['from a keyframe', 4, 9.2],
  // The segment of the sound begins before that of the video.
  ['from a millisecond before a keyframe', 3.999, 9.24],
  ['from a millisecond after a keyframe', 6.001, 9.28],
  ['between two frames', 5.213, 9.013],
  ['up to the end', 5.2, 11],
  ['from the start', 0, 7.4],
];

interface Film {
  readonly args: readonly string[];
  readonly rate: number;
  readonly parts: readonly Part[];
}

const films: Readonly<Record<string, Film>> = {
  'B-frames, keyframes every 2 s': {
    args: [...countedVideo({ seconds: 11 }), ...countedAudio(), ...h264, '-bf', '3', '-g', '50', ...aac],
    rate: 25,
    parts: allParts,
  },
  'B-frames that others refer to, keyframes every 8 s, two renditions': {
    args: [
      ...[...countedVideo({ size: '360x360', seconds: 18 }), ...countedAudio()],
      ...[...h264, '-bf', '7', '-b_strategy', '0', '-x264-params', 'b-pyramid=normal', '-g', '200', ...aac],
    ],
    rate: 25,
    parts: [
      ['between keyframes', 6.2, 13.48],
      ['few frames before a keyframe', 15.88, 17],
    ],
  },
  '29.97 frames a second': {
    args: [
      ...countedVideo({ rate: '30000/1001', seconds: 10 }),
      ...[...countedAudio(), ...h264, '-bf', '2', '-g', '60', ...aac],
    ],
    rate: 30_000 / 1001,
    parts: someParts,
  },
  'the main profile without B-frames': {
    args: [
      ...[...countedVideo({ seconds: 10 }), ...countedAudio(), ...h264],
      ...['-profile:v', 'main', '-bf', '0', '-g', '100', ...aac],
    ],
    rate: 25,
    parts: someParts,
  },
  'the baseline profile': {
    args: [
      ...[...countedVideo({ seconds: 10 }), ...countedAudio(), ...h264],
      ...['-profile:v', 'baseline', '-g', '100', ...aac],
    ],
    rate: 25,
    parts: someParts,
  },
  'colors of full range, and sound in 5.1': {
    args: [
      ...[...countedVideo({ seconds: 10 }), ...countedAudio({ channels: 6 })],
      ...['-c:v', 'libx264', '-preset', 'superfast', '-pix_fmt', 'yuvj420p', '-g', '100', '-bf', '2'],
      ...['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', ...aac],
    ],
    rate: 25,
    parts: someParts,
  },
};

describe.each(Object.entries(films))('%s', (name, { args, rate, parts }) => {
  let source: string;
  beforeAll(async () => {
    source = await upload(await made(`${name.replaceAll(' ', '-')}.mp4`, [...args, '-shortest']));
  });

  test.each(parts)('a clip has exactly the frames and the sound of its part: %s', async (_, from, to) => {
    const videoId = await clip(source, { startTimecode: timecode(from), endTimecode: timecode(to) });
    const indexAt = (seconds: number) => Math.ceil((seconds - 0.001) * rate - 1e-6);
    await expectExact(videoId, numbers(indexAt(from), indexAt(to) - indexAt(from)), rate);
  });
});

test('frames that are encoded at the edges look like those of the video', async () => {
  const path = await made('look.mp4', [
    ...[...countedVideo({ size: '320x180', seconds: 6 }), ...h264, '-crf', '20', '-bf', '3', '-g', '100'],
  ]);
  const videoId = await clip(await upload(path), {
    startTimecode: '00:00:01.200',
    endTimecode: '00:00:05.480',
  });
  const { mp4 } = await addressesOf(videoId);
  const log = await runToEnd(ffmpegPath, [
    ...[
      '-nostdin',
      '-i',
      mp4,
      '-ss',
      '1.2',
      '-i',
      path,
      '-lavfi',
      '[0:v][1:v]psnr=f=-:shortest=1',
      '-f',
      'null',
      '-',
    ],
  ]);
  const worst = [...log.matchAll(/psnr_avg:([\d.]+|inf)/g)].map(([, db]) => (db === 'inf' ? 99 : Number(db)));
  expect(worst).toHaveLength(107);
  expect(Math.min(...worst)).toBeGreaterThan(36);
});

test('a clip of a clip is exact', async () => {
  const args = [
    ...countedVideo({ seconds: 10 }),
    ...countedAudio(),
    ...h264,
    '-bf',
    '3',
    '-g',
    '100',
    ...aac,
  ];
  const source = await upload(await made('outer.mp4', [...args, '-shortest']));
  const outer = await clip(source, { startTimecode: '00:00:01.200', endTimecode: '00:00:09.480' });
  const inner = await clip(outer, { startTimecode: '00:00:01.400', endTimecode: '00:00:07.160' });
  await expectExact(inner, numbers(65, 144), 25);
});

test('slides are shown from the start to the end of a clip', async () => {
  const slides = await made('slides.mp4', [
    ...[
      ...countedVideo({ seconds: 0.32 }).map(
        arg => `${arg}${arg.startsWith('testsrc2') ? ',setpts=N*5/TB' : ''}`,
      ),
    ],
    ...[...countedAudio({ seconds: 40 }), '-vsync', 'passthrough', ...h264, '-bf', '2', '-g', '2', ...aac],
  ]);
  // Frames 0 to 7, five seconds each.
  const videoId = await clip(await upload(slides), {
    startTimecode: '00:00:07.500',
    endTimecode: '00:00:33.500',
  });
  expect(jobsOf(videoId)).not.toContain('prepare');
  const { renditions, mp4 } = await addressesOf(videoId);
  for (const address of [...renditions, mp4]) {
    expect(await readCounters(address)).toEqual([1, 2, 3, 4, 5, 6]);
  }
  const frames = await decodeVideo(mp4, [], ['-enc_time_base', '1:90000']);
  const shownAt = frames.map(({ seconds }) => seconds);
  expect(shownAt.map(seconds => Math.round(seconds * 10) / 10)).toEqual([0, 2.5, 7.5, 12.5, 17.5, 22.5]);
  expect(Math.abs((await secondsOfPlaylist(renditions[0]!)) - 26)).toBeLessThan(0.05);
  await expectSound(mp4, at => 7.5 + at, 26);
});

test('audio alone is copied, exact to its frame', async () => {
  const { videoId: source } = await server.create();
  const film = await readFile(await made('audio.m4a', [...countedAudio(), ...aac]));
  expect(await server.send(source, film)).toBe(201);
  const untilPlayable = (videoId: string) =>
    server.until(videoId, ({ encoding }) => encoding.playable, 'audio that plays');
  await untilPlayable(source);
  const values = { startTimecode: '00:00:07.500', endTimecode: '00:00:19.250' };
  const { videoId } = await server.create({ source, clip: values });
  await untilPlayable(videoId);
  expect(jobsOf(videoId)).not.toContain('prepare');
  const manifest = new URL(`/vod/${videoId}/hls/manifest.m3u8`, server.process.baseUrl).href;
  const told = await readToneSeconds(manifest, [0.5, 11]);
  for (const [index, atSeconds] of [8, 18.5].entries())
    expect(Math.abs(told[index]! - atSeconds)).toBeLessThan(audioFrameSeconds);
  const [playlist] = (await addressesOf(videoId)).renditions;
  expect(Math.abs((await secondsOfPlaylist(playlist!)) - 11.75)).toBeLessThan(2 * audioFrameSeconds);
});

test('video alone is exact', async () => {
  const source = await upload(
    await made('silent.mp4', [...countedVideo({ seconds: 10 }), ...h264, '-bf', '3', '-g', '100']),
  );
  const videoId = await clip(source, { startTimecode: '00:00:03.520', endTimecode: '00:00:09.240' });
  expect(jobsOf(videoId)).not.toContain('prepare');
  const { mp4 } = await addressesOf(videoId);
  expect(await readCounters(mp4)).toEqual(numbers(88, 143));
});

test('all audio tracks stay in step', async () => {
  const path = await made('tracks.mp4', [
    ...[
      ...countedVideo({ seconds: 10 }),
      ...countedAudio({ seconds: 10 }),
      ...countedAudio({ seconds: 10, channels: 6 }),
    ],
    ...['-map', '0', '-map', '1', '-map', '2', '-metadata:s:a:0', 'language=eng'],
    ...['-metadata:s:a:1', 'language=deu', ...h264, '-bf', '3', '-g', '100', ...aac],
  ]);
  const videoId = await clip(await upload(path), {
    startTimecode: '00:00:05.200',
    endTimecode: '00:00:09.480',
  });
  await expectExact(videoId, numbers(130, 107), 25);
  const { mp4 } = await addressesOf(videoId);
  await expectSound(mp4, at => 5.2 + at, 4, { stream: '0:a:1' });
});

test.each([
  ['an MPEG transport stream', 'film.ts', [...h264, '-bf', '3', '-g', '75', ...aac]],
  [
    'Matroska with several reference frames',
    'film.mkv',
    [...h264, '-refs', '4', '-bf', '3', '-g', '75', ...aac],
  ],
])('a clip of what was uploaded in another format is exact: %s', async (_, name, args) => {
  const film = [...countedVideo({ seconds: 10 }), ...countedAudio({ seconds: 10 }), ...args];
  const source = await upload(await made(name, film));
  const videoId = await clip(source, { startTimecode: '00:00:04.200', endTimecode: '00:00:09.720' });
  await expectExact(videoId, numbers(105, 138), 25);
});

const refusedFilms: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['references across keyframes', ['-bf', '3', '-x264-params', 'open-gop=1', '-g', '100']],
  ['one keyframe', ['-bf', '3', '-g', '1000', '-keyint_min', '1000']],
];

test.each(refusedFilms)('a clip is exact although all of it must be encoded: %s', async (name, args) => {
  const film = [...countedVideo({ seconds: 10 }), ...countedAudio(), ...h264, ...args, ...aac, '-shortest'];
  const source = await upload(await made(`${name.replaceAll(' ', '-')}.mp4`, film));
  const videoId = await clip(source, { startTimecode: '00:00:05.200', endTimecode: '00:00:09.480' });
  await expectFrames(videoId, numbers(130, 107), 25);
});

test.each([
  ['25', 120, 177],
  // Both frames begin a third of a millisecond before the times of the clip.
  ['30', 146, 179],
  ['30000/1001', 146, 181],
])('a clip without a keyframe inside is encoded, and exact: %s', async (rate, from, to) => {
  const film = [
    ...countedVideo({ rate, seconds: 8 }),
    ...countedAudio(),
    ...h264,
    '-g',
    '100',
    ...aac,
    '-shortest',
  ];
  const source = await upload(await made(`within-${parseInt(rate, 10)}.mp4`, film));
  const [frames = 0, seconds = 1] = rate.split('/').map(Number);
  const videoId = await clip(source, {
    startTimecode: timecode((from * seconds) / frames),
    endTimecode: timecode((to * seconds) / frames),
  });
  expect(jobsOf(videoId)).toContain('prepare');
  await expectFrames(videoId, numbers(from, to - from), frames / seconds);
});

test('a clip is exact although the server was killed while it was made, and again', async () => {
  const film = [
    ...countedVideo({ size: '320x180', seconds: 24 }),
    ...countedAudio(),
    ...h264,
    '-bf',
    '3',
    '-g',
    '200',
    ...aac,
  ];
  const source = await upload(await made('killed.mp4', [...film, '-shortest']));
  const values = { startTimecode: '00:00:09.200', endTimecode: '00:00:21.480' };
  const { videoId } = await server.create({ source, clip: values, mp4Support: true });
  for (const state of ['ingesting', 'ingested']) {
    await server.until(videoId, ({ ingest }) => ingest?.status === state, `that it is ${state}`);
    await server.kill();
    server = await VideoServer.start(server.dataDir, { MILLRACE_ENCODE_PRESET: 'ultrafast' });
  }
  await server.untilDone(videoId);
  await expectFrames(videoId, numbers(230, 307), 25);
});
