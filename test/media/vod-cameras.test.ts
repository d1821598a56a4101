import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';
import { decodeAudio } from './decoded.ts';
import { storeListed } from './listed-rendition.ts';

const sampleRate = 48_000;

let dataDir: string;
let pipeline: VodPipeline;

beforeAll(async () => {
  dataDir = await makeTempDir();
  pipeline = await startVodPipeline(dataDir);
});
afterAll(async () => {
  await pipeline.stop();
  await removeDir(dataDir);
});

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-pix_fmt', 'yuv420p'];
const lavfi = (graph: string) => ['-f', 'lavfi', '-i', graph];

async function make(name: string, args: readonly string[]): Promise<string> {
  const path = join(dataDir, name);
  await runToEnd(ffmpegPath, ['-v', 'error', '-y', ...args, path]);
  return path;
}

/** Uploads a file and waits until it is a video. */
async function play(path: string) {
  const videoId = await pipeline.add(path);
  const state = await pipeline.settled(videoId);
  expect(state.failure).toBeUndefined();
  expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['encoded']));
  return { videoId, state };
}

async function fileOf(videoId: string, file: 'mp4' | 'storyboard.jpg'): Promise<string> {
  const [part] = (await pipeline.playback.file(videoId, file))!.parts;
  return (part as { path: string }).path;
}

describe('a display matrix', () => {
  const one = 0x10000;
  const [width, height] = [320 * one, 180 * one];
  /** Blue and red above green and black. */
  const quadrants = [
    'color=black:s=320x180:d=2:r=25',
    'drawbox=x=0:y=0:w=160:h=90:color=blue:t=fill',
    'drawbox=x=160:y=0:w=160:h=90:color=red:t=fill',
    'drawbox=x=0:y=90:w=160:h=90:color=lime:t=fill',
  ].join();

  /** Replaces that of the first track. ISO/IEC 14496-12, 8.3.2. */
  async function withMatrix(path: string, [a, b, c, d, x, y]: readonly number[]): Promise<void> {
    const bytes = await readFile(path);
    const at = bytes.indexOf('tkhd') + 4 + 40;
    for (const [index, value] of [a!, b!, 0, c!, d!, 0, x!, y!, 0x40000000].entries()) {
      bytes.writeInt32BE(value, at + 4 * index);
    }
    await writeFile(path, bytes);
  }

  /** The colours of the quarters of the first frame, line by line. */
  async function quartersOf(path: string, isPortrait: boolean): Promise<string> {
    const raw = join(dataDir, 'quarters.rgb');
    // The first image of a storyboard.
    const tile = path.endsWith('.jpg') ? `crop=${isPortrait ? '90:160' : '160:90'}:0:0,` : '';
    const scale = `${tile}format=rgb24,scale=2:2:flags=area`;
    await runToEnd(ffmpegPath, [
      '-v',
      'error',
      '-y',
      '-i',
      path,
      '-vf',
      scale,
      '-frames:v',
      '1',
      '-f',
      'rawvideo',
      raw,
    ]);
    const pixels = await readFile(raw);
    return Array.from({ length: 4 }, (_, index) => {
      const rgb = [...pixels.subarray(3 * index, 3 * index + 3)];
      const most = Math.max(...rgb);
      return most < 80 ? 'K' : 'RGB'[rgb.indexOf(most)];
    }).join('');
  }

  test.each([
    ['nothing', [one, 0, 0, one, 0, 0], 'BRGK'],
    ['a mirror', [-one, 0, 0, one, width, 0], 'RBKG'],
    ['a mirror below', [one, 0, 0, -one, 0, height], 'GKBR'],
    ['a half turn', [-one, 0, 0, -one, width, height], 'KGRB'],
    ['a quarter turn', [0, one, -one, 0, height, 0], 'GBKR'],
    ['a quarter turn and a mirror', [0, one, one, 0, 0, 0], 'BGRK'],
    ['another quarter turn and a mirror', [0, -one, -one, 0, height, width], 'KRGB'],
  ])('with %s shows in everything that viewers get', async (name, matrix, expected) => {
    const path = await make(`${name}.mp4`, [...lavfi(quadrants), ...h264]);
    await withMatrix(path, matrix);
    const { videoId } = await play(path);
    const rendition = join(dataDir, `${videoId}.mp4`);
    await storeListed(pipeline.playback, videoId, '240p', rendition);
    const shown = [rendition, await fileOf(videoId, 'mp4'), await fileOf(videoId, 'storyboard.jpg')];
    for (const file of shown)
      expect([file, await quartersOf(file, matrix[0] === 0)]).toEqual([file, expected]);
  });
});

describe('a video track without a frame beside audio', () => {
  test.each(['mkv', 'ts'])('is left out: %s', async extension => {
    const whole = await make('whole.mp4', [
      ...lavfi('testsrc2=s=320x180:d=2'),
      ...lavfi('sine=d=2:r=48000'),
      ...[...h264, '-c:a', 'aac'],
    ]);
    const path = await make(`empty.${extension}`, ['-i', whole, '-c', 'copy', '-bsf:v', 'noise=drop=1']);
    const { state } = await play(path);
    expect(state.renditions.map(({ type, quality }) => [type, quality])).toEqual([['audio', 'audio']]);
    expect(state.sourceMetadata).toMatchObject({ width: null, duration: 2 });
  });
});

describe('two mono tracks', () => {
  const tracks = [
    ...lavfi('testsrc2=s=320x180:r=25:d=3'),
    ...lavfi(`sine=400:d=3:r=${sampleRate}`),
    ...lavfi(`sine=2000:d=3:r=${sampleRate}`),
    ...['-map', '0', '-map', '1', '-map', '2'],
  ];

  /** Frequencies of each channel, by its zero crossings. */
  function frequenciesOf(pcm: Buffer): number[] {
    return [0, 1].map(channel => {
      let crossings = 0;
      const samples = pcm.length / 4;
      for (let index = 1; index < samples; index += 1) {
        const before = pcm.readInt16LE(4 * (index - 1) + 2 * channel);
        const now = pcm.readInt16LE(4 * index + 2 * channel);
        if (before < 0 !== now < 0) crossings += 1;
      }
      return Math.round(crossings / 2 / (samples / sampleRate) / 100) * 100;
    });
  }

  test.each([
    ['mov', [...h264, '-c:a', 'pcm_s16le'], '240p'],
    ['mp4', [...h264, '-c:a', 'aac'], '240p'],
    ['mxf', ['-c:v', 'mpeg2video', '-s', '720x576', '-c:a', 'pcm_s16le'], '480p'],
  ])(
    'of a camera are one in stereo, beside video that is passed through: %s',
    async (extension, args, top) => {
      const path = await make(`camera.${extension}`, [...tracks, ...args]);
      const { videoId, state } = await play(path);
      expect(state.audioTracks).toMatchObject([{ track: 1, channels: 2 }]);
      const audio = state.renditions.filter(({ type }) => type === 'audio');
      expect(audio.map(({ quality }) => quality)).toEqual(['audio']);
      const video = state.renditions.findLast(({ type }) => type === 'hls');
      expect(video?.quality).toBe(top);
      expect(video?.file?.endsWith('/video.index')).toBe(extension !== 'mxf');
      const listed = join(dataDir, `${videoId}-audio.mp4`);
      await storeListed(pipeline.playback, videoId, 'audio', listed);
      const [mp4] = (await pipeline.playback.file(videoId, 'mp4'))!.parts;
      for (const file of [listed, (mp4 as { path: string }).path]) {
        expect(frequenciesOf(await decodeAudio(file))).toEqual([400, 2000]);
      }
    },
  );

  test.each([
    ['the right one', 3, 2.7],
    ['the left one', 2.7, 3],
  ])('end with the longer one when %s is shorter', async (name, left, right) => {
    const sides = [400, 2000].map((hertz, side) =>
      lavfi(`sine=${hertz}:d=${side === 0 ? left : right}:r=48000`),
    );
    const video = lavfi('testsrc2=s=320x180:r=25:d=3');
    const maps = ['-map', '0', '-map', '1', '-map', '2'];
    const path = await make(`${name}.mov`, [
      ...video,
      ...sides.flat(),
      ...maps,
      ...h264,
      '-c:a',
      'pcm_s16le',
    ]);
    const { videoId } = await play(path);
    const listed = join(dataDir, `${videoId}-audio.mp4`);
    await storeListed(pipeline.playback, videoId, 'audio', listed);
    const pcm = await decodeAudio(listed);
    const of = (from: number, to: number) => pcm.subarray(4 * sampleRate * from, 4 * sampleRate * to);
    expect(frequenciesOf(of(0.1, 2.6))).toEqual([400, 2000]);
    expect(frequenciesOf(of(2.75, 2.95))).toEqual([left === 3 ? 400 : 0, right === 3 ? 2000 : 0]);
  });

  test('in two languages are two', async () => {
    const languages = ['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=fre'];
    const path = await make('languages.mp4', [...tracks, ...h264, '-c:a', 'aac', ...languages]);
    const { state } = await play(path);
    expect(state.audioTracks).toMatchObject([{ channels: 1 }, { channels: 1 }]);
  });
});
