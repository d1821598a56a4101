import { sheetColumns, sheetRows, slotsPerSheet, tileSide } from '../shared/limits/live-storyboard.ts';
import { environmentOf, type StartedProgram } from './build/find-build.ts';
import type { RunLimits } from './media-tools.ts';
import { BoundedRun, childLimitsOf } from './process/bounded-run.ts';
import type { ProcessOwner } from './process/owned-process.ts';

export interface ThumbnailMedia {
  readonly init: Buffer;
  readonly part: Buffer;
  readonly height: number | undefined;
}

/** Frames of a storyboard. */
export interface SheetMedia {
  /** Fragmented MP4 of keyframes at whole seconds. Seconds without one show the frame before, and the first ones that after. */
  readonly media: readonly Buffer[];
  /** Size of the frames as they are shown. */
  readonly size: { readonly width: number; readonly height: number };
  readonly height: number | undefined;
}

interface PartThumbnailsOptions {
  readonly ffmpeg: StartedProgram;
  readonly owner: ProcessOwner;
  readonly memoryBytes: number;
  readonly niceness: number;
}

interface ImageRun {
  readonly purpose: string;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const maxWidth = 1280;
const timeoutMs = 5000;
const sheetTimeoutMs = 20_000;
const maxJpegBytes = 2 * 1024 * 1024;
/** Video without color information is assumed to be BT.709 from here. */
const highDefinitionLines = 720;
const outputPipe = 3;

export class PartThumbnails {
  readonly #options: PartThumbnailsOptions;

  constructor(options: PartThumbnailsOptions) {
    this.#options = options;
  }

  /** A JPEG of the first displayable frame, at most 1280 wide, undefined without one. */
  make(
    { init, part, height }: ThumbnailMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const run = { purpose: 'live-frame', ids, timeoutMs, signal };
    return this.#run([init, part], imageArguments(thumbnailFilters(height)), run);
  }

  /** A JPEG with small frames, row by row, undefined without one. */
  makeSheet(
    { media, height, size }: SheetMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const run = { purpose: 'live-storyboard', ids, timeoutMs: sheetTimeoutMs, signal };
    // The first second may have none. Keyframes alone come in the order in which they are shown.
    return this.#run(
      media,
      ['-copyts', '-flags', 'low_delay', ...imageArguments(sheetFilters(height, size))],
      run,
    );
  }

  async #run(
    media: readonly Buffer[],
    ffmpegArguments: readonly string[],
    { purpose, ids, timeoutMs: maxMs, signal }: ImageRun,
  ): Promise<Buffer | undefined> {
    const { ffmpeg, owner, memoryBytes, niceness } = this.#options;
    const limits: RunLimits = { timeoutMs: maxMs, memoryBytes, outputBytes: maxJpegBytes };
    if (signal.aborted) return undefined;
    const child = owner.start(ffmpeg.path, [...ffmpegArguments], {
      outputs: 1,
      limits: { ...childLimitsOf(limits), outputBytes: 0 },
      ids: { purpose, ...ids },
      niceness,
      ...environmentOf(ffmpeg),
    });
    const run = new BoundedRun(child, limits, signal);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.output(outputPipe).on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxJpegBytes) run.stopForExceeding('wrote too much');
      else chunks.push(chunk);
    });
    for (const buffer of media) child.stdin.write(buffer);
    child.stdin.end();
    const { exit, exceededLimit } = await run.ended;
    if (exit.kind !== 'ended' || exceededLimit !== undefined || bytes === 0) return undefined;
    return Buffer.concat(chunks);
  }
}

function thumbnailFilters(height: number | undefined): string[] {
  const size = `w=2*trunc(min(${maxWidth}\\,max(2\\,iw*sar))/2):h=2*max(1\\,trunc(ow/dar/2))`;
  return [`scale=${size}:flags=bicubic`, ...jpegFilters(height)];
}

function sheetFilters(height: number | undefined, size: SheetMedia['size']): string[] {
  const scale = tileSide / Math.max(size.width, size.height);
  const even = (pixels: number) => Math.max(2, Math.round((pixels * scale) / 2) * 2);
  return [
    // Repeats the frame before, and at the start the one after, in seconds without one.
    'fps=fps=1:start_time=0:eof_action=pass',
    `tpad=stop=${slotsPerSheet}:stop_mode=clone`,
    `trim=end_frame=${slotsPerSheet}`,
    `scale=w=${even(size.width)}:h=${even(size.height)}:flags=area`,
    ...jpegFilters(height),
    `tile=${sheetColumns}x${sheetRows}`,
  ];
}

function jpegFilters(height: number | undefined): string[] {
  return [
    'format=yuv420p',
    // JFIF uses the matrix of BT.601.
    ...((height ?? 0) >= highDefinitionLines ? ['colormatrix=bt709:bt601'] : []),
    'scale',
    'format=yuvj420p',
    'setsar=1',
  ];
}

function imageArguments(filters: readonly string[]): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'warning', '-threads', '1'],
    ...['-protocol_whitelist', 'pipe', '-f', 'mp4', '-i', 'pipe:0', '-map', '0:v:0'],
    ...['-vf', filters.join(','), '-frames:v', '1', '-map_metadata', '-1', '-c:v', 'mjpeg', '-q:v', '4'],
    ...['-threads', '1', '-f', 'image2pipe', `pipe:${outputPipe}`],
  ];
}
