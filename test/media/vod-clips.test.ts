import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { namesIn } from '../../src/storage/folder-names.ts';
import { TIMELINE_START_SECONDS } from '../../src/vod/index/rendition.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { type DecodedFrame, decodeVideo } from './decoded.ts';
import { formOf, VideoServer } from './vod-server-fixture.ts';

const framesPerSecond = 25;
/** Keyframes are two seconds apart. */
const keyframeFrames = 2 * framesPerSecond;
/** The tone begins. */
const onsetSeconds = 12.4;
/** EBU R37 allows 40 ms; AAC frames last 21 ms. */
const syncToleranceSeconds = 0.04;
const frameSeconds = 1 / framesPerSecond;

const settings = { MILLRACE_ENCODE_PRESET: 'ultrafast' };

let folder: string;
let server: VideoServer;
let sourcePath: string;
/** A video with one quality, for tests that look at no frame. */
let smallPath: string;
/** The frames of the source. */
let whole: DecodedFrame[];
let sourceId: string;

beforeAll(async () => {
  folder = await makeTempDir();
  sourcePath = join(folder, 'film.mp4');
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i'],
    `testsrc2=s=360x360:r=${framesPerSecond}:d=30`,
    ...['-f', 'lavfi', '-i', `aevalsrc='if(gte(t,${onsetSeconds}),sin(440*2*PI*t)/2,0)':c=mono:d=30`],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'superfast',
      '-bf',
      '3',
      '-g',
      String(keyframeFrames),
      '-sc_threshold',
      '0',
    ],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', sourcePath],
  ]);
  smallPath = join(folder, 'small.mp4');
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=25:d=12', '-f', 'lavfi'],
    ...['-i', 'sine=d=12', '-c:v', 'libx264', '-preset', 'superfast', '-g', String(keyframeFrames)],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', smallPath],
  ]);
  whole = await decodeVideo(sourcePath);
  server = await VideoServer.start(join(folder, 'data'), settings);
  server.leaveOutImages();
  const { videoId } = await server.create();
  expect(await server.send(videoId, await readFile(sourcePath))).toBe(201);
  await server.untilDone(videoId);
  sourceId = videoId;
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

/** Playlist of the highest quality. */
async function topPlaylist(videoId: string): Promise<string> {
  const path = `/vod/${videoId}/hls/manifest.m3u8`;
  const { variants } = parseMultivariantPlaylist(String(await server.text(path)));
  const top = variants.toSorted((one, other) => other.height! - one.height!)[0]!;
  return new URL(top.uri, new URL(path, server.process.baseUrl)).href;
}

async function audioOnset(videoId: string): Promise<number> {
  const input = `${server.process.baseUrl}/vod/${videoId}/hls/manifest.m3u8`;
  const log = await runToEnd(ffmpegPath, [
    ...['-nostdin', '-loglevel', 'error', '-copyts', '-i', input, '-map', '0:a:0'],
    ...['-af', 'silencedetect=n=-40dB:d=0.2,ametadata=print:file=-', '-f', 'null', '/dev/null'],
  ]);
  return Number(/silence_end=([\d.]+)/.exec(log)?.[1]) - TIMELINE_START_SECONDS;
}

async function clip(values: Record<string, unknown>, source = sourceId) {
  const answer = await server.call('POST', '/videos', { body: { title: 'A goal', source, clip: values } });
  expect(answer.status).toBe(202);
  return (await answer.json()) as { videoId: string; source: Record<string, unknown> };
}

/** Kinds of jobs of a video that have ended. */
function jobsOf(videoId: string): string[] {
  return server.process.lines
    .filter(line => line.includes('"event":"video-job-done"') && line.includes(videoId))
    .map(line => (JSON.parse(line) as { job: string }).job);
}

test('a clip by keyframes starts with the one before its start, and has the very frames of its video', async () => {
  const { videoId, source } = await clip({
    startTimecode: '00:00:11.200',
    endTimecode: '00:00:15.200',
    precision: 'keyframe',
  });
  expect(source).toMatchObject({
    type: 'upload',
    clippedFrom: { videoId: sourceId, links: [{ rel: 'self', uri: `/videos/${sourceId}` }] },
  });
  await server.untilDone(videoId);
  const own = await decodeVideo(await topPlaylist(videoId));
  const first = whole.findIndex(({ hash }) => hash === own[0]?.hash);
  expect(first).toBe(5 * keyframeFrames);
  const wantedFrames = Math.round((15.2 - 10) * framesPerSecond);
  const hashesOf = (frames: typeof own) => frames.map(({ hash }) => hash);
  expect(hashesOf(own.slice(0, wantedFrames))).toEqual(hashesOf(whole.slice(first, first + wantedFrames)));
  // Frames that are decoded before the last one may be shown after it.
  expect(own.length).toBeLessThanOrEqual(wantedFrames + 4);
  expect(Math.abs((await audioOnset(videoId)) - (onsetSeconds - 10))).toBeLessThan(syncToleranceSeconds);
  const { encoding } = await server.status(videoId);
  expect(encoding.qualities.map(({ quality }) => quality)).toEqual(['240p', '360p', '360p']);
  // The clip plays before ffmpeg has seen it.
  expect(jobsOf(videoId)).toContain('encode');
  expect(jobsOf(videoId)).not.toContain('prepare');
});

test('a clip has the audio tracks, captions and chapters of its part', async () => {
  const path = join(folder, 'tracks.mp4');
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-i', sourcePath, '-f', 'lavfi', '-i', 'sine=d=30:r=48000'],
    ...['-map', '0:v', '-map', '1:a', '-map', '0:a', '-c:v', 'copy', '-c:a', 'aac', '-ac:a:0', '6'],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=deu', path],
  ]);
  const { videoId: tracksId } = await server.create();
  expect(await server.send(tracksId, await readFile(path))).toBe(201);
  await server.untilDone(tracksId);
  const german = await server.call('PATCH', `/videos/${tracksId}/audio-tracks/2`, {
    body: { name: 'Commentary', default: true },
  });
  expect(german.status).toBe(200);
  const cues = 'WEBVTT\n\n00:05.000 --> 00:11.500\nA pass\n\n00:20.000 --> 00:21.000\nToo late\n';
  for (const kind of ['captions', 'chapters']) {
    const sent = await server.call('POST', `/videos/${tracksId}/${kind}/en`, {
      body: formOf(Buffer.from(cues)),
    });
    expect(sent.status).toBe(200);
  }
  expect(
    (await server.call('PATCH', `/videos/${tracksId}/captions/en`, { body: { default: true } })).status,
  ).toBe(200);
  const shown = async (videoId: string) => {
    const read = async (what: string) =>
      (await (await server.call('GET', `/videos/${videoId}/${what}`)).json()) as {
        data: Record<string, unknown>[];
      };
    const { data: audio } = await read('audio-tracks');
    const { data: captions } = await read('captions');
    return {
      audio: audio.map(({ name, language, channels, default: isDefault }) => [
        name,
        language,
        channels,
        isDefault,
      ]),
      captions: captions.map(one => [one.srclang, one.default]),
      texts: [
        await server.text(`/vod/${videoId}/captions/en.vtt`),
        await server.text(`/vod/${videoId}/chapters/en.vtt`),
      ],
    };
  };
  const original = await shown(tracksId);
  for (const [precision, ends] of [
    ['keyframe', '00:00:01.500'],
    ['frame', '00:00:00.500'],
  ] as const) {
    const { videoId } = await clip({ startTimecode: '11', endTimecode: '15', precision }, tracksId);
    await server.untilDone(videoId);
    const text = `WEBVTT\n\n00:00:00.000 --> ${ends}\nA pass\n\n`;
    expect(await shown(videoId)).toEqual({ ...original, texts: [text, text] });
    const playlist = String(await server.text(`/vod/${videoId}/hls/manifest.m3u8`));
    const inGroup = playlist.split('\n').filter(line => line.includes('GROUP-ID="surround"'));
    expect(inGroup.some(line => line.includes('CHANNELS="6"'))).toBe(true);
    expect(jobsOf(videoId)).not.toContain('prepare');
  }
});

test('a clip starts and ends at the wanted frames', async () => {
  const { videoId } = await clip({ startTimecode: '00:00:11.200', endTimecode: '00:00:15.200' });
  await server.untilDone(videoId);
  const own = await decodeVideo(await topPlaylist(videoId));
  expect(own).toHaveLength(4 * framesPerSecond);
  expect(Math.abs((await audioOnset(videoId)) - (onsetSeconds - 11.2))).toBeLessThan(syncToleranceSeconds);
});

test.each([
  ['from a keyframe to the end', { startTimecode: '20' }, 10],
  ['between keyframes', { startTimecode: '00:00:12', endTimecode: '16' }, 4],
])('a clip that is exact already is copied: %s', async (_, values, seconds) => {
  const { videoId } = await clip(values);
  await server.untilDone(videoId);
  const own = await decodeVideo(await topPlaylist(videoId));
  const first = whole.findIndex(({ hash }) => hash === own[0]?.hash);
  expect(first / framesPerSecond).toBe(Number(values.startTimecode.slice(-2)));
  expect(own).toHaveLength(seconds * framesPerSecond);
  expect(jobsOf(videoId)).not.toContain('prepare');
});

test('a clip of a clip counts from the start of the clip', async () => {
  const { videoId: outerId } = await clip({ lastSeconds: 20, precision: 'keyframe' });
  await server.untilDone(outerId);
  const answer = await server.call('POST', '/videos', {
    body: {
      title: 'Inner',
      source: outerId,
      clip: { startTimecode: '2', endTimecode: '4', precision: 'keyframe' },
    },
  });
  const { videoId } = (await answer.json()) as { videoId: string };
  await server.untilDone(videoId);
  const own = await decodeVideo(await topPlaylist(videoId));
  expect(own[0]!.hash).toBe(whole[12 * framesPerSecond]!.hash);
  expect(Math.abs((await audioOnset(videoId)) - (onsetSeconds - 12))).toBeLessThan(
    syncToleranceSeconds + frameSeconds,
  );
});

test('a clip is refused outside of the video, and when it is shorter than a second', async () => {
  const refused = async (values: Record<string, unknown>) => {
    const answer = await server.call('POST', '/videos', {
      body: { title: 'A goal', source: sourceId, clip: values },
    });
    return [answer.status, ((await answer.json()) as { name: string }).name];
  };
  expect(await refused({ startTimecode: '30' })).toEqual([400, 'clip[startTimecode]']);
  expect(await refused({ startTimecode: '20', endTimecode: '10' })).toEqual([400, 'clip[endTimecode]']);
  expect(await refused({ startTimecode: '20', endTimecode: '00:00:20.900' })).toEqual([
    400,
    'clip[endTimecode]',
  ]);
  expect(await refused({ startTimecode: '2', lastSeconds: 5 })).toEqual([400, 'clip[lastSeconds]']);
});

test('a clip is complete after the server was killed', async () => {
  const { videoId } = await clip({ startTimecode: '4', endTimecode: '10' });
  await server.kill();
  server = await VideoServer.start(server.dataDir, settings);
  await server.untilDone(videoId);
  const own = await decodeVideo(await topPlaylist(videoId));
  expect(own.length).toBeGreaterThanOrEqual(6 * framesPerSecond);
  expect(own.length).toBeLessThanOrEqual(6 * framesPerSecond + 4);
});

test('a clip of a deleted video says so, and one of a discarded video is made', async () => {
  const { videoId: originalId } = await server.create();
  expect(await server.send(originalId, await readFile(smallPath))).toBe(201);
  await server.untilDone(originalId);
  const make = async () => {
    const answer = await server.call('POST', '/videos', {
      body: { title: 'A goal', source: originalId, clip: { startTimecode: '4', endTimecode: '8' } },
    });
    return ((await answer.json()) as { videoId: string }).videoId;
  };
  const clipId = await make();
  expect((await server.call('DELETE', `/videos/${originalId}`)).status).toBe(204);
  await server.untilDone(clipId);
  const after = await server.call('POST', '/videos', {
    body: { title: 'A goal', source: originalId, clip: { startTimecode: '4' } },
  });
  expect(after.status).toBe(400);
});

test('a clip is made or fails with a reason when its video is deleted meanwhile', async () => {
  const { videoId: originalId } = await server.create();
  expect(await server.send(originalId, await readFile(smallPath))).toBe(201);
  await server.untilDone(originalId);
  const { videoId } = await clip({ startTimecode: '4', endTimecode: '11' }, originalId);
  expect((await server.call('DELETE', `/videos/${originalId}?permanently=true`)).status).toBe(204);
  const { ingest } = await server.until(
    videoId,
    ({ ingest: now }) => now?.status === 'ingested' || now?.status === 'failed',
    'the end of the copy',
  );
  if (ingest?.status === 'ingested') {
    await server.untilDone(videoId);
    return;
  }
  const [source] = server.read<{ failure: string }>(
    'SELECT failure FROM video_sources WHERE video_id = ?',
    videoId,
  );
  expect(source?.failure).toContain('deleted');
  expect(await namesIn(join(server.dataDir, 'vod', videoId))).toEqual([]);
});

test('a clip is refused when the storage of the project is used up, and nothing is left of it', async () => {
  const film = await readFile(smallPath);
  // Pads to a whole number of units of the setting.
  const skipped = Buffer.alloc(2048 - (film.length % 1024));
  skipped.writeUInt32BE(skipped.length);
  skipped.write('free', 4);
  const bytes = Buffer.concat([film, skipped]);
  const full = await VideoServer.start(join(folder, 'full'), {
    ...settings,
    MILLRACE_STORAGE_MAX_PER_PROJECT: `${bytes.length / 1024}KiB`,
  });
  try {
    const { videoId } = await full.create();
    expect(await full.send(videoId, bytes)).toBe(201);
    await full.untilDone(videoId);
    const answer = await full.call('POST', '/videos', {
      body: { title: 'A goal', source: videoId, clip: { lastSeconds: 5 } },
    });
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([
      400,
      expect.stringContaining('storage-limit-reached'),
    ]);
    expect(full.read('SELECT id FROM videos')).toHaveLength(1);
    expect(await namesIn(join(full.dataDir, 'vod'))).toEqual([videoId]);
  } finally {
    await full.stop();
  }
});
