import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Publisher, runFfmpeg, startPublisher } from '../ffmpeg.ts';
import { type Landscape, paintLandscape } from './paint-landscape.ts';

/** Where the films go and what makes them. */
export interface FilmStudio {
  readonly ffmpegPath: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** A film to be made. */
export interface FilmPlan {
  readonly name: string;
  readonly seconds: number;
  /** A landscape that the camera goes along, or one of ffmpeg's sources with its filters. */
  readonly picture: Landscape | string;
  /** Of the picture, in pixels; 16:9. */
  readonly height?: number;
  /** As a camera sends it: so many all the time. */
  readonly bitsPerSecond?: number;
}

const framesPerSecond = 25;
/** How much wider the painted picture is than what is shown of it. */
const panorama = 1.5;

/** Dawn, dusk and others. */
export const landscapes = {
  dawn: {
    skyTop: [92, 128, 196],
    skyBottom: [255, 214, 170],
    sun: [255, 244, 214],
    sunAt: [0.42, 0.36],
    far: [176, 164, 196],
    near: [30, 52, 66],
    seed: 4,
  },
  dusk: {
    skyTop: [38, 34, 92],
    skyBottom: [246, 138, 96],
    sun: [255, 214, 150],
    sunAt: [0.55, 0.4],
    far: [142, 84, 128],
    near: [20, 16, 44],
    seed: 11,
  },
  night: {
    skyTop: [6, 12, 34],
    skyBottom: [48, 84, 132],
    sun: [236, 242, 255],
    sunAt: [0.3, 0.2],
    far: [44, 70, 112],
    near: [4, 10, 22],
    seed: 23,
  },
  autumn: {
    skyTop: [140, 186, 214],
    skyBottom: [252, 236, 206],
    sun: [255, 250, 232],
    sunAt: [0.62, 0.26],
    far: [206, 168, 122],
    near: [104, 42, 20],
    seed: 37,
  },
} as const satisfies Readonly<Record<string, Landscape>>;

/** Where a film stands once it is made. */
export function filmPath(studio: FilmStudio, { name }: FilmPlan): string {
  return join(studio.folder, `${name}.mp4`);
}

/** Makes a film with a picture and a quiet tone; its path. @throws Error when ffmpeg fails; what it said stands on the terminal */
export async function makeFilm(studio: FilmStudio, plan: FilmPlan): Promise<string> {
  const path = filmPath(studio, plan);
  const { input, filters } = await pictureOf(studio, plan);
  await run(studio, [
    ...input,
    ...['-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=48000', '-filter:a', 'volume=0.05'],
    ...filters,
    ...['-t', String(plan.seconds), '-c:v', 'libx264', '-preset', 'veryfast'],
    ...(plan.bitsPerSecond === undefined ? ['-crf', '20'] : constantRate(plan.bitsPerSecond)),
    ...['-pix_fmt', 'yuv420p', '-g', '50', '-c:a', 'aac', '-b:a', '96k', path],
  ]);
  return path;
}

/** Publishes a film again and again, as it is, until it is stopped. */
export function publishFilm({ ffmpegPath }: FilmStudio, path: string, address: string): Publisher {
  return startPublisher(ffmpegPath, ['-re', '-stream_loop', '-1', '-i', path, '-c', 'copy'], address);
}

/** A round mark with a play sign in it, on nothing, as a PNG of `size` pixels a side. */
export async function makeMark(
  studio: FilmStudio,
  name: string,
  [red, green, blue]: readonly [number, number, number],
  size = 160,
): Promise<string> {
  const pixels = Buffer.alloc(size * size * 4);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const [fromX, fromY] = [(x + 0.5) / size - 0.5, (y + 0.5) / size - 0.5];
      const isSign = fromX > -0.14 && Math.abs(fromY) < (0.24 - fromX) * 0.58;
      const isDisc = Math.hypot(fromX, fromY) < 0.48;
      pixels.set(
        isDisc ? (isSign ? [255, 255, 255, 255] : [red, green, blue, 230]) : [0, 0, 0, 0],
        (y * size + x) * 4,
      );
    }
  }
  const raw = join(studio.folder, `${name}.rgba`);
  await writeFile(raw, pixels);
  const path = join(studio.folder, `${name}.png`);
  await run(studio, ['-f', 'rawvideo', '-pix_fmt', 'rgba', '-s', `${size}x${size}`, '-i', raw, path]);
  return path;
}

function constantRate(bitsPerSecond: number): string[] {
  const rate = String(bitsPerSecond);
  return [
    '-b:v',
    rate,
    '-minrate',
    rate,
    '-maxrate',
    rate,
    '-bufsize',
    rate,
    '-x264-params',
    'nal-hrd=cbr',
    '-bf',
    '0',
  ];
}

async function pictureOf(
  studio: FilmStudio,
  { name, seconds, picture, height = 720 }: FilmPlan,
): Promise<{ input: string[]; filters: string[] }> {
  const width = (height * 16) / 9;
  if (typeof picture === 'string') return { input: ['-f', 'lavfi', '-i', picture], filters: [] };
  const paintedWidth = width * panorama;
  const raw = join(studio.folder, `${name}.rgb`);
  await writeFile(raw, paintLandscape(paintedWidth, height, picture));
  const still = join(studio.folder, `${name}.png`);
  await run(studio, [
    ...['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${paintedWidth}x${height}`, '-i', raw, still],
  ]);
  // One picture, decoded once, for as long as the film lasts.
  const walk = `loop=loop=-1:size=1,setpts=N/${framesPerSecond}/TB,crop=${width}:${height}:x='(iw-ow)*t/${seconds}':y=0`;
  return {
    input: ['-framerate', String(framesPerSecond), '-i', still],
    filters: ['-filter:v', walk],
  };
}

function run({ ffmpegPath, signal }: FilmStudio, args: readonly string[]): Promise<void> {
  return runFfmpeg(ffmpegPath, args, signal);
}
