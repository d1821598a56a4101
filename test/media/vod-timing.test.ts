import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
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
  shop = await startVodPipeline(dataDir, { preset: 'veryfast' });
});
afterAll(async () => {
  await shop.stop();
  await removeDir(dataDir);
});

const h264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-bf', '3', '-pix_fmt', 'yuv420p'];
const vp8 = ['-c:v', 'libvpx', '-cpu-used', '8', '-deadline', 'realtime'];
const aac = ['-c:a', 'aac', '-b:a', '64k'];

function picture(seconds: number, filters: string): string[] {
  const source = `testsrc2=size=160x120:rate=25:duration=${seconds}`;
  return ['-f', 'lavfi', '-i', filters === '' ? source : `${source},${filters}`];
}

function tone(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=sample_rate=48000:duration=${seconds}`];
}

async function made(name: string, args: readonly string[]): Promise<string> {
  const path = join(dataDir, name);
  await runToEnd(ffmpegPath, ['-v', 'error', '-y', ...args, path]);
  return path;
}

async function played(path: string) {
  const videoId = await shop.add(path);
  const state = await shop.settled(videoId);
  expect(state.failure).toBeUndefined();
  expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  const isPassthrough = state.renditions.some(({ file = '' }) => /video\.index$/.test(file));
  return { videoId, isPassthrough, facts: state.facts as { duration: number | null } };
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

/** All frames of the source are shown at their times. */
function expectTimes(frames: readonly DecodedFrame[], source: readonly DecodedFrame[]): void {
  expect(frames).toHaveLength(source.length);
  const offsets = frames.map(({ seconds }, index) => seconds - source[index]!.seconds);
  expect(Math.max(...offsets) - Math.min(...offsets)).toBeLessThan(2 * ROUNDING_SECONDS);
  // The priming of audio may come before the first frame.
  expect(Math.abs(frames[0]!.seconds - START_SECONDS)).toBeLessThan(FRAME_SECONDS);
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
      [...slides(6), ...tone(36), ...still, ...h264, ...everyFrame, ...aac],
      36,
      { isPassthrough: true },
    ],
    ['slides of 9 s, encoded', [...slides(9), ...tone(54), ...still, ...vp8], 54, { isPassthrough: false }],
    ['slides of 12 s, too long to copy', [...slides(12), ...still, ...h264], 72, { isPassthrough: false }],
    [
      'slides whose last one has no duration',
      [...slides(7), ...still, ...h264],
      42,
      { isPassthrough: false },
    ],
    [
      'a gap between keyframes, with B-frames',
      [...gap(4, 9, 9.4), ...tone(9.4), ...still, ...h264, '-force_key_frames', '9', ...aac],
      9.44,
      { isPassthrough: true },
    ],
    [
      'a screencast that stands still, encoded',
      [...gap(4, 18, 18.2), ...tone(18.2), ...still, ...vp8],
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
    const { videoId, isPassthrough, facts } = await played(source);
    expect({ isPassthrough }).toEqual(expected);
    const found = await listed(videoId);
    expectTimes(found.frames, await decoded(source));
    // Some files do not tell how long the last frame is shown.
    const shown = found.frames.at(-1)!.seconds - START_SECONDS;
    expect(found.seconds).toBeGreaterThan(shown);
    expect(found.seconds).toBeLessThan(seconds + FRAME_SECONDS);
    expect(facts.duration).toBeLessThanOrEqual(Math.round(seconds));
    // Players add up decode intervals.
    expect(Math.abs(found.decodedSeconds - found.seconds)).toBeLessThan(FRAME_SECONDS);
  });
});
