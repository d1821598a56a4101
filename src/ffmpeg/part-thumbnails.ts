import { environmentOf } from './build/find-build.ts';
import type { FfmpegBuild } from './build/find-ffmpeg.ts';
import type { RunLimits } from './media-tools.ts';
import { BoundedRun, childLimitsOf } from './process/bounded-run.ts';
import type { ProcessOwner } from './process/owned-process.ts';

/** Media that a picture is made of. */
export interface ThumbnailMedia {
  /** An init section with a video track. */
  readonly init: Buffer;
  /** A part or segment of fragmented MP4 with a keyframe. */
  readonly part: Buffer;
  /** Height of its picture in pixels, as it is coded; undefined where that is not known. */
  readonly height: number | undefined;
}

/** What pictures of parts are made with. */
export interface PartThumbnailsOptions {
  readonly ffmpeg: Pick<FfmpegBuild, 'path' | 'source'>;
  readonly owner: ProcessOwner;
  /** For one process. */
  readonly memoryBytes: number;
  /** 0..19: how much it gives way to live streams. */
  readonly niceness: number;
}

/** No picture is wider. */
const mostWidth = 1280;
const timeoutMs = 5000;
/** No JPEG of this size is a picture of ours. */
const mostBytes = 2 * 1024 * 1024;
/** Lines from which a picture that does not say so is taken for BT.709. */
const highDefinitionLines = 720;
const outputPipe = 3;

/** Makes pictures of media that is in memory: one short run of ffmpeg each, which opens no file. */
export class PartThumbnails {
  readonly #options: PartThumbnailsOptions;

  constructor(options: PartThumbnailsOptions) {
    this.#options = options;
  }

  /**
   * A JPEG of the first frame that can be shown, with square pixels and at most 1280 of them wide; undefined when none comes out.
   *
   * @param signal ends the run when it aborts
   */
  async make(
    media: ThumbnailMedia,
    ids: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    const { ffmpeg, owner, memoryBytes, niceness } = this.#options;
    const limits: RunLimits = { timeoutMs, memoryBytes, outputBytes: mostBytes };
    if (signal.aborted) return undefined;
    const child = owner.start(ffmpeg.path, pictureArguments(media.height), {
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
      if (bytes > mostBytes) run.stopForExceeding('wrote too much');
      else chunks.push(chunk);
    });
    child.stdin.write(media.init);
    child.stdin.end(media.part);
    const { exit, exceededLimit } = await run.ended;
    if (exit.kind !== 'ended' || exceededLimit !== undefined || bytes === 0) return undefined;
    return Buffer.concat(chunks);
  }
}

function pictureArguments(height: number | undefined): string[] {
  const size = `w=2*trunc(min(${mostWidth}\\,max(2\\,iw*sar))/2):h=2*max(1\\,trunc(ow/dar/2))`;
  const filters = [
    `scale=${size}:flags=bicubic`,
    'format=yuv420p',
    // JFIF has the weights of BT.601.
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
