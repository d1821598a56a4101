import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { MediaTools } from '../../src/ffmpeg/media-tools.ts';
import { AppError } from '../../src/shared/errors.ts';
import type { EncodingState } from '../../src/vod/encoding-repository.ts';
import { ffmpegPath, ffprobe, runToEnd } from '../support/ffmpeg.ts';
import { argumentsOf } from '../support/ffmpeg-command.ts';
import { fixture } from '../support/fixtures.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { runSql } from '../support/sql.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { startVodPipeline, type VodPipeline } from '../support/vod-pipeline.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Encoders move a value of luma by a few steps. */
const LUMA_STEPS = 8;
/** **Source**: EBU R37, sound and picture are together within 40 ms. */
const TOGETHER_SECONDS = 0.04;

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

async function make(name: string, args: readonly string[]): Promise<string> {
  const path = join(await testTempDir(), name);
  await runToEnd(ffmpegPath, ['-v', 'error', '-nostdin', ...args, path]);
  return path;
}

async function output(program: string, args: readonly string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(program, ['-v', 'error', ...args], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/** A rendition as one file, as a player puts it together. */
async function download(videoId: string, rendition: string): Promise<string> {
  const { playback } = shop;
  const text = (await playback.mediaPlaylist(videoId, rendition))?.text.plain.toString() ?? '';
  const names = [
    /URI="([^"]+)"/.exec(text)?.[1] ?? '',
    ...text.split('\n').filter(line => /m4s$/.test(line)),
  ];
  const bytes: Buffer[] = [];
  for (const name of names) {
    for (const piece of (await playback.media(videoId, rendition, name))?.parts ?? []) {
      if (!('path' in piece)) bytes.push(piece);
      else bytes.push((await readFile(piece.path)).subarray(piece.start, piece.start + piece.length));
    }
  }
  const path = join(await testTempDir(), `${rendition}.mp4`);
  await writeFile(path, Buffer.concat(bytes));
  return path;
}

const hlsOf = ({ renditions }: EncodingState) => renditions.filter(({ type }) => type === 'hls');

describe('a watermark', () => {
  /** A film of one gray with a white image of 100x50 on it: luma of its upper rung, which is as large as the film. */
  async function marked(placement: Record<string, string>) {
    const film = await make('film.mp4', [
      ...['-f', 'lavfi', '-i', 'color=gray:size=640x360:rate=10:duration=1'],
      ...['-c:v', 'libx264', '-pix_fmt', 'yuv420p'],
    ]);
    const image = await make('mark.png', ['-f', 'lavfi', '-i', 'color=white:size=100x50', '-frames:v', '1']);
    const videoId = await shop.add(film, { watermark: JSON.stringify(placement) });
    await writeFile(shop.files.video(videoId, 'watermark'), await readFile(image));
    expect((await shop.settled(videoId)).failure).toBeUndefined();
    const luma = await output(ffmpegPath, [
      ...['-i', await download(videoId, '360p'), '-frames:v', '1', '-pix_fmt', 'gray', '-f', 'rawvideo', '-'],
    ]);
    expect(luma).toHaveLength(640 * 360);
    return (x: number, y: number) => luma[x + 640 * y] ?? -1;
  }

  test('is burned in where it was asked for, and nowhere else', async () => {
    const at = await marked({ right: '20px', bottom: '10px', opacity: '100%' });
    // The watermark is from 520 to 619 and from 300 to 349.
    for (const [x, y] of [
      [524, 304],
      [615, 345],
      [570, 325],
    ] as const) {
      expect(at(x, y)).toBeGreaterThan(245);
    }
    for (const [x, y] of [
      [512, 325],
      [627, 325],
      [570, 292],
      [570, 356],
      [4, 4],
    ] as const) {
      expect(Math.abs(at(x, y) - at(320, 180))).toBeLessThan(LUMA_STEPS);
    }
  });

  test('is as opaque and as large as was asked for', async () => {
    const at = await marked({ left: '25%', top: '0px', width: '50%', opacity: '50%' });
    const own = at(320, 350);
    // The watermark is from 160 to 479; it keeps its shape and has 160 lines.
    for (const [x, y] of [
      [168, 8],
      [470, 150],
      [320, 80],
    ] as const) {
      expect(Math.abs(at(x, y) - (own + 255) / 2)).toBeLessThan(LUMA_STEPS);
    }
    for (const [x, y] of [
      [150, 80],
      [490, 80],
      [320, 170],
    ] as const) {
      expect(Math.abs(at(x, y) - own)).toBeLessThan(LUMA_STEPS);
    }
  });
});

describe('a flash and a beep at the same instant stay together', () => {
  const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '30'];

  /** Creates a film with a flash and a beep at 2 s; the late one lacks its first second. */
  function film(late: 'picture' | 'sound' | 'neither'): string[] {
    const flash = "drawbox=color=white:t=fill:enable='between(t,1.99,2.2)'";
    return [
      ...['-f', 'lavfi', '-i', `color=black:size=640x360:rate=30:duration=4,${flash}`],
      ...['-f', 'lavfi', '-i', "aevalsrc='if(between(t,2,2.2),sin(2*PI*1000*t),0)':s=48000:d=4"],
      '-filter_complex',
      `[0:v]select='gte(t,${late === 'picture' ? 1 : 0})'[v];[1:a]aselect='gte(t,${late === 'sound' ? 1 : 0})'[a]`,
      ...['-map', '[v]', '-map', '[a]', '-vsync', 'passthrough'],
    ];
  }

  async function firstOf(
    path: string,
    key: string,
    above: number,
    options: readonly string[],
  ): Promise<number> {
    const text = (
      await output(ffmpegPath, ['-copyts', '-i', path, ...options, '-f', 'null', '/dev/null'])
    ).toString();
    const values = text.matchAll(/pts_time:([\d.]+)\s+lavfi\.\S+=(-?[\d.]+)/g);
    const [, seconds] = [...values].find(([, , value]) => Number(value) > above) ?? [];
    if (seconds === undefined) throw new Error(`${key} never rises above ${above} in ${path}`);
    return Number(seconds);
  }

  const flashOf = (path: string) =>
    firstOf(path, 'YAVG', 100, [
      ...['-map', '0:v:0', '-vsync', 'passthrough'],
      ...['-vf', 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-'],
    ]);
  const beepOf = (path: string) =>
    firstOf(path, 'RMS_level', -20, [
      ...['-map', '0:a:0', '-af'],
      'aresample=48000,asetnsamples=240,astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=RMS_level,ametadata=print:key=lavfi.astats.Overall.RMS_level:file=-',
    ]);

  test.each<[string, string, 'picture' | 'sound' | 'neither', string[]]>([
    ['MP4', 'film.mp4', 'neither', [...h264, '-c:a', 'aac']],
    ['MP4 with a late picture', 'film.mp4', 'picture', [...h264, '-c:a', 'aac']],
    ['MPEG-TS with a late picture', 'film.ts', 'picture', [...h264, '-c:a', 'mp2']],
    ['MPEG-TS with late sound', 'film.ts', 'sound', [...h264, '-c:a', 'mp2']],
    ['Matroska with a late picture and MP3', 'film.mkv', 'picture', [...h264, '-c:a', 'libmp3lame']],
    [
      'MPEG-TS with a late picture that is encoded',
      'film.ts',
      'picture',
      ['-c:v', 'mpeg2video', '-q:v', '4', '-c:a', 'mp2'],
    ],
  ])('%s', async (_, name, late, codecs) => {
    const videoId = await shop.add(await make(name, [...film(late), ...codecs]));
    const state = await shop.settled(videoId);
    expect(state.failure).toBeUndefined();
    const beep = await beepOf(await download(videoId, 'audio'));
    const rungs = hlsOf(state).map(({ quality }) => quality);
    expect(rungs).toEqual(['240p', '360p']);
    for (const rung of rungs) {
      expect(Math.abs((await flashOf(await download(videoId, rung))) - beep)).toBeLessThan(TOGETHER_SECONDS);
    }
    const mp4 = shop.files.video(videoId, state.renditions.find(({ type }) => type === 'mp4')?.file ?? '');
    expect(Math.abs((await flashOf(mp4)) - (await beepOf(mp4)))).toBeLessThan(TOGETHER_SECONDS);
  });
});

describe('a film', () => {
  test('whose length no file says gets its storyboard once it is encoded', async () => {
    const film = await make('film.mkv', [
      ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30:duration=3', '-c:v', 'mpeg4'],
      ...['-f', 'matroska', '-live', '1'],
    ]);
    const own = await startVodPipeline(await testTempDir());
    onTestFinished(() => own.stop());
    const state = await own.settled(await own.add(film));
    expect(state.sourceMetadata).toMatchObject({ duration: 3 });
    expect(state.hasStoryboard).toBe(true);
  });

  test.each([0.1, 0.7, 1])(
    'of %s frames a second keeps the target duration that it was shown with',
    async rate => {
      const film = await make('film.mkv', [
        ...['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=${rate}:duration=30`, '-c:v', 'mpeg4'],
      ]);
      const videoId = await shop.add(film);
      const state = await shop.settled(videoId);
      const text = (await shop.playback.mediaPlaylist(videoId, '240p'))?.text.plain.toString() ?? '';
      const longest = Math.max(
        ...[...text.matchAll(/EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds)),
      );
      // The announced target duration is never shorter than the longest segment: else it would have grown with
      // that.
      expect(state.targetDurationSeconds).toBe(Math.max(6, Math.round(longest)));
    },
  );
});

describe('wishes that change while there is work', () => {
  test('an mp4 wished for while the source is looked into is made, one not wished for any more is not', async () => {
    const film = await fixture('h264-aac');
    const wished = await shop.add(film, { has_mp4_support: 0 });
    const unwished = await shop.add(film);
    for (const [videoId, isSupported] of [
      [wished, true],
      [unwished, false],
    ] as const) {
      await shop.database.transaction(async transaction => {
        const change = 'UPDATE videos SET has_mp4_support = ? WHERE id = ?';
        await runSql(transaction, change, Number(isSupported), videoId);
        await shop.works.updateMp4Support(videoId, isSupported, transaction);
      });
    }
    expect((await shop.settled(wished)).renditions.map(({ type }) => type)).toContain('mp4');
    expect((await shop.settled(unwished)).renditions.map(({ type }) => type)).not.toContain('mp4');
  });

  test('an mp4 is not put together without the sound that is still encoded', async () => {
    const videoId = await shop.add(await fixture('h264-mp3'), { has_mp4_support: 0 });
    await waitUntil(async () => ((await shop.records.state(videoId))?.renditions.length ?? 0) > 0, {
      what: 'the plan',
    });
    await shop.setMp4Support(videoId, true);
    const state = await shop.settled(videoId);
    const mp4 = state.renditions.find(({ type }) => type === 'mp4');
    expect(mp4?.status).toBe('encoded');
    const path = shop.files.video(videoId, mp4?.file ?? '');
    const kinds = await ffprobe(['-show_entries', 'stream=codec_type', '-of', 'csv=p=0', path]);
    expect(kinds.split('\n').filter(Boolean).sort()).toEqual(['audio', 'video']);
  });

  test('an mp4 on, off and on again is made once and told of once', async () => {
    const videoId = await shop.add(await fixture('h264-aac'), { has_mp4_support: 0 });
    await shop.settled(videoId);
    for (const isSupported of [true, false, true, true]) await shop.setMp4Support(videoId, isSupported);
    const state = await shop.settled(videoId);
    expect(state.renditions.find(({ type }) => type === 'mp4')?.status).toBe('encoded');
    const told = (await shop.events()).filter(({ payload }) => payload.videoId === videoId);
    expect(told.map(({ payload }) => payload.encoding)).toEqual(['hls', 'mp4']);
  });
});

describe('where an encode fails', () => {
  /** A workshop whose ffmpeg writes the beginning of each encode. */
  async function failingShop(): Promise<VodPipeline> {
    const real = makeMediaTools();
    const tools: MediaTools = {
      probe: (...args) => real.probe(...args),
      sizeOfImage: (...args) => real.sizeOfImage(...args),
      async runCommand(build, options) {
        if (options.purpose !== 'encode') return real.runCommand(build, options);
        const file =
          argumentsOf(build)
            .findLast(arg => arg.endsWith('.mp4'))
            ?.replace(/^file:/, '') ?? '';
        await writeFile(file, 'half');
        throw new AppError('process-failed', 'it broke');
      },
    };
    const own = await startVodPipeline(await testTempDir(), { hasImages: false, context: { tools } });
    onTestFinished(async () => {
      await own.stop();
      await real.owner.stop();
    });
    return own;
  }

  const folders = async (own: VodPipeline, videoId: string) =>
    (await readdir(own.files.video(videoId))).filter(name => name.startsWith('hls-'));

  test('a video that is carried stays what it is, with its mp4, and has not failed', async () => {
    const own = await failingShop();
    const film = await make('film.mp4', [
      ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30:duration=3'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '30'],
    ]);
    const videoId = await own.add(film);
    const state = await own.settled(videoId);
    expect(state).toMatchObject({ isPlayable: true, failure: undefined });
    expect(state.renditions.map(({ type, quality, status }) => `${type} ${quality} ${status}`)).toEqual([
      ...['hls 240p failed', 'hls 360p encoded', 'mp4 360p encoded'],
    ]);
    expect(await folders(own, videoId)).toHaveLength(1);
  });

  test('a video of which nothing came has failed, leaves no partial files, and waits for nothing', async () => {
    const own = await failingShop();
    const videoId = await own.add(await fixture('hevc'));
    expect(await own.settled(videoId)).toMatchObject({ isPlayable: false, failure: expect.any(String) });
    expect(await folders(own, videoId)).toEqual([]);
    await own.setMp4Support(videoId, false);
    await own.setMp4Support(videoId, true);
    const state = await own.settled(videoId);
    expect(new Set(state.renditions.map(({ status }) => status))).toEqual(new Set(['failed']));
  });
});

test('sound that ends long before the picture goes on in silence', async () => {
  const film = await make('short-sound.mp4', [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=30:duration=8'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=2'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '60', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
  ]);
  const state = await shop.settled(await shop.add(film));
  const seconds = state.renditions
    .filter(({ type }) => type !== 'mp4')
    .map(({ renditionMetadata }) => (renditionMetadata as { durationSeconds: number }).durationSeconds);
  expect(seconds).toHaveLength(2);
  for (const length of seconds) expect(Math.abs(length - 8)).toBeLessThan(0.1);
});
