import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import type { RenditionRecord } from '../../src/vod/playback/rendition-record.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';
import { decodeAudio, decodeVideo } from './decoded.ts';
import { storeListed } from './listed-rendition.ts';

const dataFolder = new DataFolderStorage('/');

/** An AAC frame of 48 kHz: encoded audio begins and ends with whole frames. */
const AUDIO_FRAME_SECONDS = 1024 / 48_000;
/** **Source**: EBU R37, by which audio may be early unnoticed. */
const SYNC_TOLERANCE_SECONDS = 0.04;
/** Times are rounded to milliseconds by FLV and MKV. */
const ROUNDING_SECONDS = 0.0011;
/** The padding of encoders, and silence after audio that ends early. */
const ENDS_TOLERANCE_SECONDS = 0.3;
const SAMPLE_RATE = 48_000;

let dataDir: string;
let shop: VodPipeline;

beforeAll(async () => {
  dataDir = await makeTempDir();
  shop = await startVodPipeline(dataDir, { hasImages: false });
});
afterAll(async () => {
  await shop.stop();
  await removeDir(dataDir);
});

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-g', '30', '-pix_fmt', 'yuv420p'];
const aac = ['-c:a', 'aac', '-b:a', '64k'];
const fragmented = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof+frag_discont'];

function picture(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `testsrc2=size=160x120:rate=30:duration=${seconds}`];
}

function tone(seconds: number): string[] {
  return ['-f', 'lavfi', '-i', `sine=sample_rate=${SAMPLE_RATE}:duration=${seconds}`];
}

/** Makes a file by ffmpeg, then changes its bytes; its path. */
async function made(
  name: string,
  args: readonly string[],
  change: (bytes: Buffer) => Buffer = bytes => bytes,
): Promise<string> {
  const path = join(dataDir, name);
  await runToEnd(ffmpegPath, ['-v', 'error', '-y', ...args, path]);
  await writeFile(path, change(await readFile(path)));
  return path;
}

/** Uploads a file and waits until nothing more is to be done for it. */
async function uploaded(path: string, pipeline = shop) {
  const videoId = await pipeline.add(path);
  const state = await pipeline.settled(videoId);
  const sourceMetadata = state.sourceMetadata as {
    duration: number | null;
    framerate: number | null;
    bitrate: number | null;
  };
  return { videoId, state, sourceMetadata };
}

/** The same of one that becomes a video. */
async function played(path: string, pipeline = shop) {
  const found = await uploaded(path, pipeline);
  expect(found.state.failure).toBeUndefined();
  expect(new Set(found.state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  return found;
}

/** Everything that a player loads of a rendition, in one file. */
async function hlsFile(videoId: string, rendition: '240p' | 'audio'): Promise<string> {
  const path = join(dataDir, `${videoId}-${rendition}.mp4`);
  await storeListed(shop.playback, videoId, rendition, path);
  return path;
}

async function mp4File(videoId: string): Promise<string> {
  const [piece] = (await shop.playback.file(videoId, 'mp4'))!.parts;
  return (piece as { path: string }).path;
}

async function secondsOfAudio(path: string, channels: number): Promise<number> {
  return (await decodeAudio(path)).length / (2 * channels * SAMPLE_RATE);
}

/** The HLS rendition and the MP4 show the frames of the source, from the first on, at their times. */
async function expectSameVideo(source: string, videoId: string): Promise<void> {
  const expected = await decodeVideo(source);
  for (const [path, startSeconds] of [
    [await hlsFile(videoId, '240p'), 10],
    [await mp4File(videoId), 0],
  ] as const) {
    const frames = await decodeVideo(path);
    expect(frames.map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash));
    const shift = startSeconds - expected[0]!.seconds;
    const offsets = frames.map(({ seconds }, index) => seconds - expected[index]!.seconds - shift);
    // An audio frame may come before the first frame of the video.
    expect(Math.max(...offsets.map(Math.abs))).toBeLessThan(2 * AUDIO_FRAME_SECONDS + ROUNDING_SECONDS);
    expect(Math.max(...offsets) - Math.min(...offsets)).toBeLessThan(2 * ROUNDING_SECONDS);
  }
}

describe('a transport stream whose audio ends before its video', () => {
  test.each([
    ['at ten minutes', 600],
    ['at eleven hours', 40_000],
    ['just before its clock begins anew', 2 ** 33 / 90_000 - 3],
  ])('and that begins %s has silence up to the end of the video, and no more', async (name, startSeconds) => {
    const source = await made(`${name}.ts`, [
      ...[...picture(3), ...tone(1), ...h264, ...aac],
      ...['-output_ts_offset', String(startSeconds)],
    ]);
    const { videoId, sourceMetadata } = await played(source);
    expect(sourceMetadata.duration).toBe(3);
    await expectSameVideo(source, videoId);
    for (const path of [await hlsFile(videoId, 'audio'), await mp4File(videoId)]) {
      const seconds = await secondsOfAudio(path, 2);
      expect(Math.abs(seconds - 3)).toBeLessThan(4 * AUDIO_FRAME_SECONDS);
    }
  });
});

/** Start of the first sound of a rendition, in seconds since the first presented instant. */
async function firstSoundSeconds(videoId: string): Promise<number> {
  const path = await hlsFile(videoId, 'audio');
  const samples = await decodeAudio(path);
  const first = samples.findIndex((_, at) => at % 4 === 0 && Math.abs(samples.readInt16LE(at)) > 3000);
  const state = await shop.records.state(videoId);
  const { file } = state!.renditions.find(({ type }) => type === 'audio')!;
  const start = (await new RenditionReader(dataFolder).open(shop.files.video(videoId, file!))).startSeconds(
    0,
  );
  return start + first / 4 / SAMPLE_RATE;
}

test('a gap of 85 ms in the audio leaves what follows at its time', async () => {
  const source = await made('gap.mkv', [
    ...[...picture(3), '-f', 'lavfi', '-i', `aevalsrc='sin(2000*t)*gt(t,2)':s=${SAMPLE_RATE}:d=3`],
    ...[...h264, '-c:a', 'pcm_s16le', '-bsf:a', 'noise=drop=between(n\\,47\\,50)'],
  ]);
  // Four packets of 1024 samples are missing.
  expect((await decodeAudio(source)).length / 2).toBe(3 * SAMPLE_RATE - 4 * 1024);
  const { videoId } = await played(source);
  expect(Math.abs((await firstSoundSeconds(videoId)) - 2)).toBeLessThan(SYNC_TOLERANCE_SECONDS);
});

describe('an encrypted file', () => {
  const encrypted = [
    ...['-encryption_scheme', 'cenc-aes-ctr', '-encryption_key', '00112233445566778899aabbccddeeff'],
    ...['-encryption_kid', '112233445566778899aabbccddeeff00'],
  ];
  const renamed = (from: string, to: string) => (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1');
  test.each<[string, string[], (bytes: Buffer) => Buffer]>([
    ['in the scheme cenc', [], bytes => bytes],
    ['in the scheme cbcs', [], renamed('cenc', 'cbcs')],
    ['in fragments', fragmented, bytes => bytes],
    ['whose entries keep their names', [], bytes => renamed('enca', 'mp4a')(renamed('encv', 'avc1')(bytes))],
  ])('%s is refused with that reason', async (name, args, change) => {
    const source = await made(
      `${name}.mp4`,
      [...picture(1), ...tone(1), ...h264, ...aac, ...encrypted, ...args],
      change,
    );
    const { state } = await uploaded(source);
    expect(state.failure).toMatch(/^The file is encrypted \(DRM\).*\.$/);
    expect(state.isPlayable).toBe(false);
  });
});

describe('a file that says 1000 frames a second', () => {
  const flv = (bytes: Buffer) => {
    bytes.writeDoubleBE(1000, bytes.indexOf('framerate') + 10);
    return bytes;
  };
  /** DefaultDuration, in nanoseconds: its length is in the low bits of the byte behind its name. */
  const mkv = (bytes: Buffer) => {
    const at = bytes.indexOf(Buffer.from('23e383', 'hex')) + 3;
    bytes.writeUIntBE(1_000_000, at + 1, bytes[at]! & 0x7f);
    return bytes;
  };
  test.each<[string, string[], (bytes: Buffer) => Buffer]>([
    ['carried.flv', h264, flv],
    ['carried.mkv', h264, mkv],
    ['encoded.mkv', ['-c:v', 'mpeg4', '-g', '30'], mkv],
  ])(
    'keeps its 60 frames, and its status tells how many a second they are: %s',
    async (name, codec, change) => {
      const source = await made(name, [...picture(2), ...codec], change);
      const { videoId, sourceMetadata } = await played(source);
      expect(sourceMetadata).toMatchObject({ framerate: 30, duration: 2 });
      const expected = await decodeVideo(source);
      expect(expected).toHaveLength(60);
      for (const path of [await hlsFile(videoId, '240p'), await mp4File(videoId)]) {
        const frames = await decodeVideo(path);
        const times = frames.map(({ seconds }) => seconds - frames[0]!.seconds);
        expect(times).toHaveLength(60);
        for (const [index, { seconds }] of expected.entries()) {
          expect(Math.abs(times[index]! - seconds + expected[0]!.seconds)).toBeLessThan(ROUNDING_SECONDS);
        }
      }
    },
  );

  test('and has 90 of them a second has no more than 60 in the end', async () => {
    const rate90 = picture(2).map(arg => arg.replace('rate=30', 'rate=90'));
    const source = await made('fast.mkv', [...rate90, ...h264], mkv);
    const { videoId, sourceMetadata } = await played(source);
    expect(sourceMetadata.framerate).toBe(45);
    expect(await decodeVideo(await hlsFile(videoId, '240p'))).toHaveLength(90);
  });
});

test('negative composition offsets show no frame late', async () => {
  const source = await made('negative.mp4', [
    ...[...picture(3), ...tone(3), ...h264, ...aac, '-movflags', '+negative_cts_offsets'],
  ]);
  const { videoId, state } = await played(source);
  expect(state.renditions.find(({ type }) => type === 'hls')?.file).toMatch(/video\.index$/);
  await expectSameVideo(source, videoId);
  const [frame] = await decodeVideo(await hlsFile(videoId, '240p'));
  expect(Math.abs(frame!.seconds - 10)).toBeLessThan(ROUNDING_SECONDS);
});

describe('the duration in the status', () => {
  let withImages: VodPipeline;
  beforeAll(async () => {
    withImages = await startVodPipeline(await makeTempDir());
  });
  afterAll(() => withImages.stop());

  /** Writes a duration over the one that the movie's header and that of its first track give, behind their timescale. */
  const mp4Says = (seconds: number) => (bytes: Buffer) => {
    for (const at of [bytes.indexOf('mvhd'), bytes.indexOf('mdhd')]) {
      bytes.writeUInt32BE(seconds * bytes.readUInt32BE(at + 16), at + 20);
    }
    return bytes;
  };
  const flvSays = (seconds: number) => (bytes: Buffer) => {
    bytes.writeDoubleBE(seconds, bytes.indexOf('duration') + 9);
    return bytes;
  };
  const withoutLength = (flac: Buffer) => {
    flac[21] = flac[21]! & 0xf0;
    return flac.fill(0, 22, 26);
  };
  const loudThenSilent = ['-f', 'lavfi', '-i', 'aevalsrc=if(lt(t\\,1)\\,random(0)\\,0):d=4'];
  /** The time of day of a recording, as packagers write it. */
  const late = [...fragmented, '-output_ts_offset', '1700000000', '-avoid_negative_ts', 'disabled'];
  const vp8 = ['-c:v', 'libvpx', '-cpu-used', '8', '-deadline', 'realtime'];
  const same = (bytes: Buffer) => bytes;
  test.each<[string, string[], (bytes: Buffer) => Buffer]>([
    ['late-fragments.mp4', [...picture(4), ...tone(1), ...h264, ...aac, ...late], same],
    ['wrong-header.mp4', [...picture(4), ...tone(1), '-c:v', 'mpeg4', ...aac, ...fragmented], mp4Says(3900)],
    ['wrong-header.flv', [...picture(4), ...tone(4), ...h264, ...aac], flvSays(3900)],
    ['estimated.aac', [...loudThenSilent, ...aac], same],
    ['estimated.mp3', [...loudThenSilent, '-q:a', '2', '-write_xing', '0'], same],
    ['live.webm', [...picture(4), ...tone(4), ...vp8, '-c:a', 'libopus', '-live', '1'], same],
    ['streamed.flac', tone(4), withoutLength],
  ])('is that of what viewers get: %s', async (name, args, change) => {
    const source = await made(name, args, change);
    const { videoId, sourceMetadata, state } = await played(source, withImages);
    expect(sourceMetadata.duration).toBe(4);
    expect(Math.abs(sourceMetadata.bitrate! / ((await stat(source)).size / 500) - 1)).toBeLessThan(0.1);
    // Previews are laid out over what there is to see.
    const storyboard = await withImages.playback.file(videoId, 'storyboard.vtt');
    if (state.renditions.some(({ type }) => type === 'hls')) {
      const cues = await readFile((storyboard!.parts[0] as { path: string }).path, 'utf8');
      const ends = [...cues.matchAll(/--> ([\d:.]+)/g)].map(([, end = '']) =>
        end.split(':').reduce((sum, part) => 60 * sum + Number(part), 0),
      );
      expect(Math.abs(Math.max(...ends) - 4)).toBeLessThan(ENDS_TOLERANCE_SECONDS);
    }
    for (const { type, renditionMetadata: own } of state.renditions) {
      if (type !== 'mp4')
        expect(Math.abs((own as RenditionRecord).durationSeconds - 4)).toBeLessThan(ENDS_TOLERANCE_SECONDS);
    }
  });
});
