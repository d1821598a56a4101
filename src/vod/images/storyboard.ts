import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxOverlay } from '../../ffmpeg/arguments/sandbox-watermark.ts';
import { AppError } from '../../shared/errors.ts';
import {
  ffmpegPath,
  frameOutputOptions,
  imageRunLimits,
  sampleEvery,
  seekInputOptions,
  type VideoInput,
} from './frames.ts';
import { imageFilters } from './image-filters.ts';
import { overlayGraph } from './image-watermark.ts';
import { formatStoryboard, layoutStoryboard, type StoryboardLayout } from './storyboard-layout.ts';

export const storyboardFiles = { image: 'storyboard.jpg', cues: 'storyboard.vtt' } as const;

export interface StoryboardRequest extends VideoInput {
  readonly width: number;
  readonly height: number;
  readonly hasSandboxWatermark?: boolean;
  readonly folder: string;
}

const maxImageBytes = 1_000_000;
/** Tried in order until the image is small enough. */
const jpegQualities = [4, 8, 16, 31];
/** Decodes every frame up to this: about 15 seconds of one core. */
const everyFramePixels = 4e9;
/** Keyframes are precise enough for tiles that are further apart. */
const everyFrameIntervalSeconds = 5;
const framesPerSecond = 30;
/** Up to this many pixels, reading all keyframes is cheaper than seeking. */
const keyframePixelsPerTile = 3e7;
const secondsPerKeyframe = 2;

type TileStrategy = 'every-frame' | 'every-keyframe' | 'seek';

/**
 * Makes `storyboard.jpg` and `storyboard.vtt`, which maps times to tiles. Returns false when the source has
 * no frame. @throws AppError `process-failed` when it cannot be read; the signal's reason when aborted
 */
export async function makeStoryboard(request: StoryboardRequest): Promise<boolean> {
  const layout = layoutStoryboard(request);
  const tiles =
    tileStrategyFor(request, layout) === 'seek'
      ? await readPositions(request, layout)
      : await readThrough(request, layout);
  if (tiles.length === 0) return false;
  await writeFiles(request, layout, withoutGaps(tiles, layout.tiles));
  return true;
}

function tileStrategyFor(
  { width, height, durationSeconds }: StoryboardRequest,
  layout: StoryboardLayout,
): TileStrategy {
  const pixels = width * height * durationSeconds;
  if (layout.intervalSeconds < everyFrameIntervalSeconds && pixels * framesPerSecond <= everyFramePixels) {
    return 'every-frame';
  }
  return pixels / secondsPerKeyframe <= keyframePixelsPerTile * layout.tiles ? 'every-keyframe' : 'seek';
}

type Tiles = (Buffer | undefined)[];

async function readThrough(request: StoryboardRequest, layout: StoryboardLayout): Promise<Tiles> {
  const { durationSeconds } = request;
  const keyframes = tileStrategyFor(request, layout) === 'every-keyframe';
  const pixels = await readTiles(request, layout, {
    input: [
      ...seekInputOptions(request, 0, keyframes),
      // Filters that were built anew for another size would sample from zero again. Those for fields need one size.
      ...(request.isInterlaced ? [] : ['-reinit_filter', '0']),
      ...['-t', durationSeconds.toFixed(6)],
    ],
    filters: [sampleEvery(layout.intervalSeconds)],
    frames: layout.tiles,
    timeoutMs: 30 * 60_000,
  });
  const tileBytes = bytesOfTile(layout);
  return Array.from({ length: Math.floor(pixels.length / tileBytes) }, (_, index) =>
    pixels.subarray(index * tileBytes, (index + 1) * tileBytes),
  );
}

async function readPositions(request: StoryboardRequest, layout: StoryboardLayout): Promise<Tiles> {
  const tiles: Tiles = [];
  let failure: unknown;
  for (let index = 0; index < layout.tiles; index += 1) {
    const atSeconds = (index + 0.5) * layout.intervalSeconds;
    try {
      const pixels = await readTiles(request, layout, {
        input: seekInputOptions(request, atSeconds, true),
        filters: [],
        frames: 1,
        timeoutMs: 20_000,
      });
      if (pixels.length === bytesOfTile(layout)) tiles[index] = pixels;
    } catch (error) {
      request.signal.throwIfAborted();
      if (!(error instanceof AppError && error.code === 'process-failed')) throw error;
      // A damaged file may have frames elsewhere. Gives up when the first ten positions fail.
      failure = error;
      if (index >= 9 && tiles.length === 0) break;
    }
  }
  if (tiles.length === 0 && failure !== undefined) throw failure;
  return tiles;
}

async function readTiles(
  request: StoryboardRequest,
  { tileWidth, tileHeight }: StoryboardLayout,
  read: {
    readonly input: readonly string[];
    readonly filters: readonly string[];
    readonly frames: number;
    readonly timeoutMs: number;
  },
): Promise<Buffer> {
  const { tools, source, folder, signal, ids } = request;
  const raw = join(folder, 'storyboard.raw');
  try {
    await tools.runCommand(
      command =>
        command
          .input(ffmpegPath(source))
          .inputOptions([...read.input])
          .output(ffmpegPath(raw))
          .videoFilters([
            ...read.filters,
            ...imageFilters({ fit: 'framed', width: tileWidth, height: tileHeight }, request),
          ])
          .outputOptions([...frameOutputOptions(request, read.frames), '-c:v', 'rawvideo', '-f', 'rawvideo']),
      {
        limits: imageRunLimits(request, read.timeoutMs),
        signal,
        purpose: 'storyboard',
        ids,
        isPausable: true,
      },
    );
    return await readFile(raw);
  } finally {
    await rm(raw, { force: true });
  }
}

function bytesOfTile({ tileWidth, tileHeight }: StoryboardLayout): number {
  return (tileWidth * tileHeight * 3) / 2;
}

function withoutGaps(tiles: Tiles, count: number): Buffer[] {
  let last = tiles.find(tile => tile !== undefined)!;
  return Array.from({ length: count }, (_, index) => {
    last = tiles[index] ?? last;
    return last;
  });
}

async function writeFiles(
  request: StoryboardRequest,
  layout: StoryboardLayout,
  tiles: readonly Buffer[],
): Promise<void> {
  const { folder } = request;
  const image = join(folder, storyboardFiles.image);
  const cues = join(folder, storyboardFiles.cues);
  const parts = { raw: join(folder, 'storyboard.raw'), image: `${image}.part`, cues: `${cues}.part` };
  try {
    await writeFile(parts.raw, Buffer.concat(tiles));
    await writeImage(request, layout, parts);
    await writeFile(parts.cues, formatStoryboard(layout, storyboardFiles.image));
    await rename(parts.image, image);
    await rename(parts.cues, cues);
  } finally {
    await Promise.all(Object.values(parts).map(path => rm(path, { force: true })));
  }
}

async function writeImage(
  request: StoryboardRequest,
  { tileWidth, tileHeight, columns, rows }: StoryboardLayout,
  parts: { readonly raw: string; readonly image: string },
): Promise<void> {
  const { tools, signal, ids, hasSandboxWatermark = false } = request;
  const tile = `tile=${columns}x${rows}`;
  const overlay = sandboxOverlay({ width: tileWidth, height: tileHeight });
  for (const quality of jpegQualities) {
    await tools.runCommand(
      command => {
        command
          .input(ffmpegPath(parts.raw))
          .inputOptions(['-f', 'rawvideo', '-pix_fmt', 'yuvj420p', '-s', `${tileWidth}x${tileHeight}`]);
        if (hasSandboxWatermark) command.input(overlay.path).complexFilter(overlayGraph(overlay, tile));
        command.output(ffmpegPath(parts.image));
        if (!hasSandboxWatermark) command.videoFilters(tile);
        return command.outputOptions([
          '-frames:v',
          '1',
          '-c:v',
          'mjpeg',
          '-q:v',
          String(quality),
          '-f',
          'mjpeg',
        ]);
      },
      { limits: imageRunLimits(request, 60_000), signal, purpose: 'storyboard', ids },
    );
    if ((await stat(parts.image)).size <= maxImageBytes) return;
  }
}
