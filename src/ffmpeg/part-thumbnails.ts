import { environmentOf, type StartedProgram } from './build/find-build.ts';
import type { RunLimits } from './media-tools.ts';
import { BoundedRun, childLimitsOf } from './process/bounded-run.ts';
import type { ProcessOwner } from './process/owned-process.ts';

export interface ThumbnailMedia {
  readonly init: Buffer;
  readonly part: Buffer;
  readonly height: number | undefined;
}

interface PartThumbnailsOptions {
  readonly ffmpeg: StartedProgram;
  readonly owner: ProcessOwner;
  readonly memoryBytes: number;
  readonly niceness: number;
}

const maxWidth = 1280;
const timeoutMs = 5000;
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
  async make(
    media: ThumbnailMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const { ffmpeg, owner, memoryBytes, niceness } = this.#options;
    const limits: RunLimits = { timeoutMs, memoryBytes, outputBytes: maxJpegBytes };
    if (signal.aborted) return undefined;
    const child = owner.start(ffmpeg.path, thumbnailArguments(media.height), {
      outputs: 1,
      limits: { ...childLimitsOf(limits), outputBytes: 0 },
      ids: { purpose: 'live-frame', ...ids },
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
    child.stdin.write(media.init);
    child.stdin.end(media.part);
    const { exit, exceededLimit } = await run.ended;
    if (exit.kind !== 'ended' || exceededLimit !== undefined || bytes === 0) return undefined;
    return Buffer.concat(chunks);
  }
}

function thumbnailArguments(height: number | undefined): string[] {
  const size = `w=2*trunc(min(${maxWidth}\\,max(2\\,iw*sar))/2):h=2*max(1\\,trunc(ow/dar/2))`;
  const filters = [
    `scale=${size}:flags=bicubic`,
    'format=yuv420p',
    // JFIF uses the matrix of BT.601.
    ...((height ?? 0) >= highDefinitionLines ? ['colormatrix=bt709:bt601'] : []),
    'scale',
    'format=yuvj420p',
    'setsar=1',
  ];
  return [
    ...['-nostdin', '-hide_banner', '-loglevel', 'warning', '-threads', '1'],
    ...['-protocol_whitelist', 'pipe', '-f', 'mp4', '-i', 'pipe:0', '-map', '0:v:0', '-frames:v', '1'],
    ...['-vf', filters.join(','), '-map_metadata', '-1', '-c:v', 'mjpeg', '-q:v', '4', '-threads', '1'],
    ...['-f', 'image2pipe', `pipe:${outputPipe}`],
  ];
}
