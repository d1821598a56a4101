import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { VideoServer } from './vod-server-fixture.ts';

/** Length of each half. */
const seconds = 3;
const hertz = 440;
const decodedRate = 48_000;
/** A change of the sample rate that is not noticed changes the pitch by 8 % or more. */
const pitchTolerance = 0.03;
const audioFrameSeconds = 2_048 / 22_050;

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

const ffmpeg = (...args: readonly string[]) => runToEnd(ffmpegPath, ['-y', '-loglevel', 'error', ...args]);

/** A tone beside pictures in MPEG-TS, or alone in ADTS. */
async function half(
  type: 'ts' | 'aac',
  rate: number,
  channels: number,
  startSeconds: number,
): Promise<Buffer> {
  const path = join(folder, `half.${type}`);
  await ffmpeg(
    ...['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=${hertz}:r=${rate}:d=${seconds}`],
    ...(type === 'aac' ? ['-vn'] : ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-bf', '0']),
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', '-ar', String(rate), '-ac', String(channels)],
    ...['-output_ts_offset', String(startSeconds), '-f', type === 'ts' ? 'mpegts' : 'adts', path],
  );
  return readFile(path);
}

async function joined(
  type: 'ts' | 'aac',
  ...halves: readonly (readonly [number, number])[]
): Promise<Buffer> {
  const parts = [];
  for (const [index, [rate, channels]] of halves.entries()) {
    parts.push(await half(type, rate, channels, index * seconds));
  }
  return Buffer.concat(parts);
}

async function upload(bytes: Buffer) {
  const { videoId } = await server.create();
  expect(await server.send(videoId, bytes)).toBe(201);
  await waitUntil(() => {
    const open = server.read("SELECT * FROM renditions WHERE video_id = ? AND status <> 'encoded'", videoId);
    const some = server.read('SELECT * FROM renditions WHERE video_id = ?', videoId);
    return some.length > 0 && open.length === 0 && server.read('SELECT id FROM jobs').length === 0;
  });
  const isPassedThrough = server
    .read<{ file: string }>("SELECT file FROM renditions WHERE video_id = ? AND type = 'audio'", videoId)
    .some(({ file }) => file.endsWith('/audio.index'));
  const base = `/vod/${videoId}/hls/`;
  const playlist = parseMultivariantPlaylist(String(await server.text(`${base}manifest.m3u8`)));
  const uri = playlist.media[0]?.uri ?? playlist.variants[0]!.uri;
  return { isPassedThrough, audio: server.process.baseUrl + base + uri };
}

/** Counts the periods of each half second of sound. */
async function pitches(url: string): Promise<number[]> {
  const raw = join(folder, 'sound.pcm');
  await ffmpeg('-nostdin', '-i', url, '-vn', '-ac', '1', '-ar', String(decodedRate), '-f', 's16le', raw);
  const bytes = await readFile(raw);
  const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
  const window = decodedRate / 2;
  return Array.from({ length: Math.floor(samples.length / window) }, (_, index) => {
    let periods = 0;
    for (let at = index * window + 1; at < (index + 1) * window; at++) {
      if (samples[at - 1]! < 0 && samples[at]! >= 0) periods += 1;
    }
    return periods * 2;
  });
}

describe('the sound of an upload changes', () => {
  test.each([
    ['MPEG-TS: to another sample rate', 'ts', [44_100, 2], [48_000, 2]],
    ['MPEG-TS: to half of the sample rate, then the packets are others', 'ts', [44_100, 2], [22_050, 2]],
    ['MPEG-TS: to one channel', 'ts', [48_000, 2], [48_000, 1]],
    ['MPEG-TS: to two channels and another sample rate', 'ts', [32_000, 1], [48_000, 2]],
    ['ADTS: to one channel', 'aac', [48_000, 2], [48_000, 1]],
  ] as const)('%s: the tone goes on', async (_, type, first, second) => {
    const { audio } = await upload(await joined(type, first, second));
    const found = await pitches(audio);
    expect(found.length).toBeGreaterThanOrEqual(4 * seconds - 1);
    expect(found.length).toBeLessThanOrEqual(4 * seconds + Math.ceil(audioFrameSeconds));
    // The first one, and those where the halves meet: the encoder of each begins and ends there.
    const wrong = found.filter(pitch => Math.abs(pitch / hertz - 1) > pitchTolerance);
    expect(wrong.length).toBeLessThanOrEqual(3);
  });

  test.each(['ts', 'aac'] as const)('%s whose sound does not change is passed through', async type => {
    const { isPassedThrough } = await upload(await joined(type, [44_100, 2], [44_100, 2]));
    expect(isPassedThrough).toBe(true);
  });
});
