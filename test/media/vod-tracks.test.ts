import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { VideoServer } from './vod-server-fixture.ts';

const seconds = 6;
/** The picture becomes white and each track sounds. */
const onsetSeconds = 2;
/** EBU R37 allows 40 ms; AAC frames last 21 ms. */
const syncToleranceSeconds = 0.04;

let folder: string;
let server: VideoServer;

beforeAll(async () => {
  folder = await makeTempDir();
  server = await VideoServer.start(join(folder, 'data'));
});
afterAll(async () => {
  await server.stop();
  await removeDir(folder);
});

/** Sources of one picture and a tone per track, which begins at {@link onsetSeconds}. */
async function make(name: string, tones: readonly string[], args: readonly string[]): Promise<Buffer> {
  const path = join(folder, name);
  const sounds = tones.flatMap(layout => [
    ...['-f', 'lavfi', '-i'],
    `aevalsrc='if(gte(t,${onsetSeconds}),sin(440*2*PI*t)/2,0)':c=mono:d=${seconds},aformat=channel_layouts=${layout}`,
  ]);
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i'],
    `color=black:s=320x180:r=25:d=${seconds},drawbox=c=white:t=fill:enable='gte(t,${onsetSeconds})'`,
    ...[...sounds, '-map', '0:v', ...tones.flatMap((_, index) => ['-map', `${index + 1}:a`]), ...args],
    ...['-pix_fmt', 'yuv420p', path],
  ]);
  return readFile(path);
}

/** Of a video that is ready: its multivariant playlist, and when each audio rendition sounds. */
async function upload(bytes: Buffer) {
  const { videoId } = await server.create({ mp4Support: true });
  expect(await server.send(videoId, bytes)).toBe(201);
  await server.untilDone(videoId);
  const playlist = parseMultivariantPlaylist(String(await server.text(`/vod/${videoId}/hls/manifest.m3u8`)));
  const audio = playlist.media.filter(({ type }) => type === 'AUDIO');
  return { videoId, playlist, audio };
}

async function onsetOf(videoId: string, uri: string | undefined): Promise<number> {
  const text = await runToEnd(ffmpegPath, [
    ...[
      '-nostdin',
      '-loglevel',
      'error',
      '-copyts',
      '-i',
      `${server.process.baseUrl}/vod/${videoId}/hls/${uri}`,
    ],
    ...['-af', 'silencedetect=noise=-40dB:duration=0.5,ametadata=print:file=-'],
    ...['-f', 'null', '/dev/null'],
  ]);
  return Number(/silence_end=([\d.]+)/.exec(text)?.[1]);
}

async function probe(target: string): Promise<Record<string, unknown>[]> {
  const text = await runToEnd(ffmpegPath.replace(/ffmpeg$/, 'ffprobe'), [
    ...['-v', 'error', '-show_streams', '-of', 'json', target],
  ]);
  return JSON.parse(text).streams;
}

test('a Matroska file keeps its audio tracks in sync, and 5.1 beside stereo', async () => {
  const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
  const bytes = await make(
    'film.mkv',
    ['stereo', '5.1', 'stereo'],
    [
      ...[...x264, '-c:a:0', 'aac', '-c:a:1', 'ac3', '-c:a:2', 'aac'],
      ...[
        '-metadata:s:a:0',
        'language=eng',
        '-metadata:s:a:1',
        'language=fre',
        '-metadata:s:a:2',
        'language=eng',
      ],
      ...['-metadata:s:a:2', 'title=Commentary', '-disposition:a:0', 'default'],
    ],
  );
  const { videoId, audio } = await upload(bytes);
  expect(audio).toMatchObject([
    { name: 'English', language: 'en', channels: 2, isDefault: true, isAutoselect: true },
    { name: 'Français', language: 'fr', channels: 2, isAutoselect: true },
    { name: 'Français 5.1', language: 'fr', channels: 6 },
    { name: 'Commentary', language: 'en', channels: 2 },
  ]);
  for (const { uri } of audio) {
    expect(Math.abs((await onsetOf(videoId, uri)) - 10 - onsetSeconds)).toBeLessThan(syncToleranceSeconds);
  }
  const streams = await probe(`${server.process.baseUrl}/vod/${videoId}/mp4/source.mp4`);
  expect(
    streams.filter(({ codec_type }) => codec_type === 'audio').map(({ channels, tags }) => [channels, tags]),
  ).toMatchObject([
    [2, { language: 'eng' }],
    [2, { language: 'fra' }],
    [2, { language: 'eng' }],
  ]);
});

test('an MP4 file with two AAC tracks is playable without being encoded', async () => {
  const x264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50'];
  const bytes = await make(
    'film.mp4',
    ['stereo', 'mono'],
    [...[...x264, '-c:a', 'aac', '-metadata:s:a:0', 'language=deu', '-metadata:s:a:1', 'language=spa']],
  );
  const { videoId, audio } = await upload(bytes);
  expect(audio).toMatchObject([
    { name: 'Deutsch', language: 'de', isDefault: true },
    { name: 'Español', language: 'es', channels: 1 },
  ]);
  for (const { uri } of audio) {
    expect(Math.abs((await onsetOf(videoId, uri)) - 10 - onsetSeconds)).toBeLessThan(syncToleranceSeconds);
  }
  const rows = server.read<{ file: string }>(
    "SELECT file FROM renditions WHERE video_id = ? AND type = 'audio' ORDER BY quality",
    videoId,
  );
  expect(rows.map(({ file }) => file.replace(/^hls-\d+\//, ''))).toEqual(['audio.index', 'audio2.index']);
});
