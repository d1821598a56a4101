import { copyFile, open, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFfprobe } from '../../src/ffmpeg/build/find-ffmpeg.ts';
import type { ProbedFile, ProbedStream } from '../../src/ffmpeg/media-tools.ts';
import { AppError } from '../../src/shared/errors.ts';
import { readerOf } from '../../src/vod/index/index-progressive.ts';
import { describePlainSource } from '../../src/vod/source/plain-source.ts';
import { embeddedFfprobePath } from '../support/ffmpeg.ts';
import { commandOf } from '../support/ffmpeg-command.ts';
import { type FixtureName, fixture, fixtureNames } from '../support/fixtures.ts';
import { mutateMp4 } from '../support/media-mutations.ts';
import { ampleLimits, makeMediaTools, type ToolBuilds, toolBuilds } from '../support/media-tools.ts';
import { Random } from '../support/random.ts';
import { testTempDir } from '../support/temp-dir.ts';

type Facts = Omit<Partial<ProbedFile>, 'streams'> & { readonly streams: readonly Partial<ProbedStream>[] };

const mp4 = 'mov,mp4,m4a,3gp,3g2,mj2';
const matroska = 'matroska,webm';
const h264: Partial<ProbedStream> = {
  kind: 'video',
  codec: 'h264',
  width: 320,
  height: 180,
  rotation: 0,
  pixelAspect: 1,
  pixelFormat: 'yuv420p',
  fieldOrder: 'progressive',
  averageFrameRate: 30,
  isCoverImage: false,
};
const aac: Partial<ProbedStream> = {
  kind: 'audio',
  codec: 'aac',
  profile: 'LC',
  sampleRate: 48_000,
  channels: 1,
};
const sixSeconds = { format: mp4, durationSeconds: 6, startSeconds: 0, streams: [h264, aac] };
const threeSeconds = { ...sixSeconds, durationSeconds: 3 };

/** Properties of each file, or the sentence with which it is rejected. */
const facts: Record<FixtureName, Facts | string> = {
  'h264-aac': sixSeconds,
  'h264-aac-faststart': sixSeconds,
  'h264-mp3': { ...sixSeconds, streams: [h264, { kind: 'audio', codec: 'mp3', sampleRate: 48_000 }] },
  // Since version 7, ffmpeg writes the priming of AAC.
  'h264-aac-mkv': {
    ...sixSeconds,
    format: matroska,
    durationSeconds: 6.021,
    startSeconds: expect.closeTo(0, 1),
  },
  'h264-aac-ts': { ...sixSeconds, format: 'mpegts', durationSeconds: 6.021334, startSeconds: 1.445333 },
  'h264-aac-flv': { ...sixSeconds, format: 'flv', durationSeconds: 6.067, startSeconds: 0.046 },
  'h264-long-gop': { ...sixSeconds, durationSeconds: 30, streams: [{ ...h264, averageFrameRate: 5 }, aac] },
  'h264-720p': { ...sixSeconds, durationSeconds: 12, streams: [{ ...h264, width: 1280, height: 720 }, aac] },
  'h264-only': { ...sixSeconds, streams: [h264] },
  'audio-only': { ...sixSeconds, streams: [aac] },
  'audio-mp3': {
    format: 'mp3',
    durationSeconds: 6.024,
    streams: [{ kind: 'audio', codec: 'mp3', channels: 1 }],
  },
  hevc: { ...threeSeconds, streams: [{ ...h264, codec: 'hevc', profile: 'Main' }, aac] },
  'not-video': "This file is incomplete or isn't a video: its index is missing.",
  truncated: "This file is incomplete or isn't a video: its index is missing.",
  'truncated-faststart': sixSeconds,
  'one-pixel': {
    format: matroska,
    durationSeconds: 1,
    streams: [
      { kind: 'video', codec: 'ffv1', width: 1, height: 1, pixelFormat: 'bgr0', averageFrameRate: 10 },
    ],
  },
  vfr: { ...sixSeconds, streams: [{ ...h264, averageFrameRate: 360 / 29, baseFrameRate: 30 }, aac] },
  rotated: { ...sixSeconds, streams: [{ ...h264, rotation: 90 }, aac] },
  hdr: {
    ...sixSeconds,
    durationSeconds: 2,
    streams: [
      {
        ...h264,
        codec: 'hevc',
        profile: 'Main 10',
        pixelFormat: 'yuv420p10le',
        colorTransfer: 'smpte2084',
        colorPrimaries: 'bt2020',
        colorSpace: 'bt2020nc',
      },
      aac,
    ],
  },
  'odd-size': {
    ...threeSeconds,
    streams: [{ ...h264, width: 321, height: 181, pixelFormat: 'yuv444p' }, aac],
  },
  'streams-200': {
    format: matroska,
    durationSeconds: 1,
    streams: [
      h264,
      ...Array.from(
        { length: 200 },
        () => ({ kind: 'audio', codec: 'pcm_s16le', sampleRate: 8_000 }) as const,
      ),
    ],
  },
  'zero-duration': {
    format: mp4,
    // Streams without the video, which has no frame.
    streams: [{ index: 1, kind: 'audio', codec: 'aac' }],
  },
  'single-frame': { ...sixSeconds, durationSeconds: 0.033333, streams: [h264] },
  'hls-playlist': 'Unsupported file format. Upload a video file.',
  'concat-script': 'Unsupported file format. Upload a video file.',
  interlaced: { ...threeSeconds, streams: [{ ...h264, fieldOrder: 'tt', averageFrameRate: 25 }, aac] },
  anamorphic: { ...threeSeconds, streams: [{ ...h264, pixelAspect: 4 / 3 }, aac] },
  portrait: { ...threeSeconds, streams: [{ ...h264, width: 180, height: 320 }, aac] },
  'edit-list': {
    ...threeSeconds,
    durationSeconds: 3.499333,
    startSeconds: 1,
    streams: [
      { ...h264, startSeconds: 1 },
      { ...aac, startSeconds: 1.478 },
    ],
  },
  'fragmented-mp4': { ...sixSeconds, durationSeconds: 6.066667 },
  'high-rate': { ...threeSeconds, streams: [{ ...h264, averageFrameRate: 100 }, aac] },
  'two-keyframes-irregular': { ...sixSeconds, durationSeconds: 8 },
  'mono-8khz': { ...threeSeconds, streams: [h264, { ...aac, sampleRate: 8_000 }] },
  surround: { ...threeSeconds, streams: [h264, { ...aac, channels: 6 }] },
};

const never = new AbortController().signal;

async function refusalOf(looking: Promise<unknown>): Promise<AppError> {
  const outcome = await looking.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof AppError) return outcome;
  throw new Error(`was not refused: ${outcome}`);
}

/** Files that need no ffprobe. */
const plainFixtures: readonly FixtureName[] = [
  ...(['h264-aac', 'h264-aac-faststart', 'h264-long-gop', 'h264-720p', 'h264-only'] as const),
  ...(['single-frame', 'portrait', 'high-rate', 'two-keyframes-irregular'] as const),
];
/** `MILLRACE_TEST_MUTANTS=5000 MILLRACE_TEST_SEED=7` tries more and others. */
const mutants = Number(process.env.MILLRACE_TEST_MUTANTS ?? 60);
const firstSeed = Number(process.env.MILLRACE_TEST_SEED ?? 20_261_128);

async function describeWithout(path: string): Promise<ProbedFile | undefined> {
  const handle = await open(path, 'r');
  try {
    return await describePlainSource(readerOf(handle), (await handle.stat()).size);
  } finally {
    await handle.close();
  }
}

/** Leaves out what only matters for files of other kinds. */
function planned({ streams, ...file }: ProbedFile): ProbedFile {
  return { ...file, streams: streams.map(({ isReordered, baseFrameRate, ...stream }) => stream) };
}

/** Looks into each file once per build. */
const probes = new Map<string, Promise<ProbedFile>>();
function probeOnce(builds: ToolBuilds, name: FixtureName): Promise<ProbedFile> {
  const key = `${builds.name} ${name}`;
  const known = probes.get(key);
  if (known !== undefined) return known;
  const probing = probe(builds, name);
  probes.set(key, probing);
  return probing;
}

async function probe(builds: ToolBuilds, name: FixtureName): Promise<ProbedFile> {
  const tools = makeMediaTools(builds);
  try {
    return await tools.probe(await fixture(name), never);
  } finally {
    expect(tools.owner.running).toBe(0);
  }
}

describe.each(toolBuilds)('a look into a file with the $name ffprobe', builds => {
  test.each(fixtureNames)('%s', async name => {
    const expected = facts[name];
    const looking = probeOnce(builds, name);
    if (typeof expected === 'string') {
      const refusal = await refusalOf(looking);
      expect(refusal.code).toBe('media-refused');
      expect(refusal.details.detail).toBe(expected);
    } else {
      const { streams, ...file } = await looking;
      const { streams: expectedStreams, ...expectedFile } = expected;
      expect(file).toMatchObject(expectedFile);
      expect(streams).toHaveLength(expectedStreams.length);
      for (const [index, stream] of expectedStreams.entries()) {
        expect(streams[index]).toMatchObject({ index, ...stream });
      }
    }
  });
});

describe.each(toolBuilds)('a description without the $name ffprobe', builds => {
  test('is that of ffprobe, and exists for plain files', async () => {
    const described: FixtureName[] = [];
    for (const name of fixtureNames) {
      const own = await describeWithout(await fixture(name));
      if (own === undefined) continue;
      described.push(name);
      expect(own, name).toEqual(planned(await probeOnce(builds, name)));
    }
    expect(described).toEqual(plainFixtures);
  });

  test('is that of ffprobe for mutants of plain files, or missing', async () => {
    const path = join(await testTempDir(), 'mutant.mp4');
    const valid = await Promise.all(plainFixtures.map(async name => readFile(await fixture(name))));
    let described = 0;
    for (let seed = firstSeed; seed < firstSeed + mutants; seed++) {
      const random = new Random(seed);
      await writeFile(path, mutateMp4(random.pick(valid), random));
      const own = await describeWithout(path);
      if (own === undefined) continue;
      described += 1;
      const tools = makeMediaTools(builds);
      expect(own, `seed ${seed}`).toEqual(planned(await tools.probe(path, never)));
    }
    expect(described).toBeGreaterThan(0);
  });
});

describe.each(toolBuilds)('a picture that is too large, with the $name build', builds => {
  const sentence = (maxPixels: number) =>
    `The video frames are too large: 320 x 180 is more than the ${maxPixels.toLocaleString('en')} pixels that this server accepts. Export the video in a smaller size.`;

  test.each<[string, number]>([
    ['a bit', 320 * 180 - 1],
    ['so much that it is not decoded', 20_000],
  ])('is refused, %s', async (_, maxPixels) => {
    const tools = makeMediaTools(builds, { maxPixels });
    for (const name of ['h264-aac', 'h264-aac-mkv', 'h264-aac-ts', 'hevc'] as const) {
      const refused = await tools.probe(await fixture(name), never).catch((error: unknown) => error);
      expect([name, refused]).toEqual([name, expect.any(AppError)]);
      const { code, details } = refused as AppError;
      expect([name, code, details.detail]).toEqual([name, 'media-refused', sentence(maxPixels)]);
    }
    await expect(tools.probe(await fixture('audio-only'), never)).resolves.toMatchObject({
      streams: [{ kind: 'audio' }],
    });
  });

  test('is not decoded by a run either', async () => {
    const tools = makeMediaTools(builds, { maxPixels: 20_000 });
    const run = tools.runCommand(
      commandOf([], await fixture('h264-aac'), ['-map', '0:v', '-f', 'null'], '-'),
      {
        limits: ampleLimits,
        signal: never,
        purpose: 'test',
        ids: {},
      },
    );
    const failed = (await run.catch((error: unknown) => error)) as AppError;
    expect(failed.code).toBe('process-failed');
    expect(failed.details.data?.lines).toContainEqual(expect.stringContaining('exceeds specified max pixel'));
  });
});

test.each(toolBuilds)('images may have more pixels than videos, with the $name build', async builds => {
  const tools = makeMediaTools(builds, { maxPixels: 1000, maxImagePixels: 320 * 180 });
  const image = join(await testTempDir(), 'image.jpg');
  const options = { limits: ampleLimits, signal: never, purpose: 'test', ids: {} };
  const unlimited = makeMediaTools(builds);
  const frame = commandOf([], await fixture('h264-aac'), ['-frames:v', '1', '-f', 'image2'], image);
  await unlimited.runCommand(frame, options);
  expect(await tools.sizeOfImage(image, never)).toEqual({ width: 320, height: 180 });
  await tools.runCommand(commandOf([], image, ['-f', 'null'], '-'), options);
  await expect(tools.probe(await fixture('h264-aac'), never)).rejects.toThrow(
    'The video frames are too large',
  );
});

test.skipIf(toolBuilds.length < 2)('both builds tell the same of all files', async () => {
  const [current, outdated] = [toolBuilds[0], toolBuilds.at(-1)];
  for (const name of fixtureNames) {
    if (typeof facts[name] === 'string') continue;
    expect(await probeOnce(current!, name), name).toEqual(await probeOnce(outdated!, name));
  }
});

test.each(toolBuilds)('the size of an image is known to $name, whatever it is called', async build => {
  const tools = makeMediaTools(build);
  const folder = await testTempDir();
  for (const [codec, name] of [
    ['mjpeg', 'frame.jpg'],
    ['mjpeg', 'image'],
    ['png', 'frame.jpg.plain.png'],
  ] as const) {
    const path = join(folder, name);
    const limits = { limits: ampleLimits, signal: never, purpose: 'image', ids: {} } as const;
    const output = ['-frames:v', '1', '-c:v', codec, '-f', 'image2'];
    await tools.runCommand(
      commandOf(['-f', 'lavfi'], 'testsrc2=size=320x180', output, `file:${path}`),
      limits,
    );
    // Files longer than what is first read are told apart by their names.
    expect((await stat(path)).size).toBeGreaterThan(4_096);
    expect(await tools.sizeOfImage(path, never), name).toEqual({ width: 320, height: 180 });
  }
});

describe('a file', () => {
  test('may have any name', async () => {
    const folder = await testTempDir();
    for (const name of ['-i', 'http:x', 'concat:a|b', '%d.mp4', 'ä ö?#\n.mp4']) {
      const path = join(folder, name);
      await copyFile(await fixture('h264-only'), path);
      expect((await makeMediaTools().probe(path, never)).streams).toHaveLength(1);
    }
  });

  test('may be a transport stream, of which a static ffprobe on the path of the settings reads the names', async () => {
    const ffprobe = await findFfprobe(embeddedFfprobePath, process.env);
    const tools = makeMediaTools({ ...toolBuilds[0]!, ffprobe });
    expect((await tools.probe(await fixture('h264-aac-ts'), never)).streams).toHaveLength(2);
  });

  test('is looked into once, and again when it has changed', async () => {
    const path = join(await testTempDir(), 'film');
    let looks = 0;
    const tools = makeMediaTools(undefined, { observer: { runEnded: () => (looks += 1) } });
    const durationOf = async (name: FixtureName) => {
      await copyFile(await fixture(name), path);
      const probed = await tools.probe(path, never);
      expect(await tools.probe(path, never)).toBe(probed);
      return Math.round(probed.durationSeconds ?? 0);
    };
    expect([await durationOf('h264-aac'), looks]).toEqual([6, 1]);
    expect([await durationOf('hevc'), looks]).toEqual([3, 2]);
    await expect(tools.probe(path, AbortSignal.abort())).rejects.toThrow('aborted');
  });

  test('that is empty is refused, one that is not there is our fault', async () => {
    const path = join(await testTempDir(), 'file');
    expect((await refusalOf(makeMediaTools().probe(path, never))).code).toBe('process-failed');
    await writeFile(path, '');
    expect((await refusalOf(makeMediaTools().probe(path, never))).details.detail).toBe('The file is empty.');
  });

  test.each([
    ['a subtitle', '1\n00:00:00,000 --> 00:00:02,000\nHello\n'],
    [
      'a session description',
      'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n',
    ],
    ['a DASH manifest', '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>'],
    ['a page', '<!doctype html><html><body>hello</body></html>'],
    [
      'a picture',
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    ],
  ])('that is %s is refused', async (_name, content) => {
    const path = join(await testTempDir(), 'source');
    await writeFile(path, content);
    for (const builds of toolBuilds) {
      expect((await refusalOf(makeMediaTools(builds).probe(path, never))).code).toBe('media-refused');
    }
  });
});
