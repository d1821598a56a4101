import { readFile, rename, rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { startAtFirst } from '../../ffmpeg/arguments/encode-command.ts';
import type { SourceClock } from '../../ffmpeg/arguments/encode-options.ts';
import type { MediaTools, RunLimits } from '../../ffmpeg/media-tools.ts';
import { analysis } from '../../ffmpeg/probe/probe-output.ts';
import { AppError } from '../../shared/errors.ts';
import { GOOD_FRAME_SCORE, scoreFrame } from './frame-score.ts';
import { type FrameFormat, imageFilters } from './image-filters.ts';

export interface VideoInput extends FrameFormat {
  readonly tools: MediaTools;
  readonly source: string;
  readonly durationSeconds: number;
  readonly startSeconds?: number;
  readonly clock?: SourceClock;
  readonly streamIndex?: number;
  readonly signal: AbortSignal;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly memoryBytes?: number;
}

export interface FrameRequest extends VideoInput {
  /** Times after the end count as 0. Undefined: a representative frame. */
  readonly atSeconds: number | undefined;
  /** Resolution as it is shown. */
  readonly width: number;
  readonly height: number;
  readonly output: string;
}

const maxImageSide = 1_280;
/** Small, but large enough to detect blur. */
const scoredSize = { width: 128, height: 72 } as const;
/** Shares of the duration: after the titles first. */
const firstPositions = [0.15, 0.25, 0.2, 0.3, 0.1];
const furtherPositions = [0.4, 0.5, 0.6, 0.75, 0.9, 0.05];
/** Duration below which videos are decoded completely when no keyframe is good enough: they may have only one. */
const shortVideoSeconds = 120;
const shortVideoSamples = 16;
/** Pixels of a frame above which a run decodes a single one, since each needs memory for the frames that it refers to. */
const maxPixelsAtOnce = 1_920 * 1_088;
const jpegOutput = ['-c:v', 'mjpeg', '-q:v', '3', '-f', 'mjpeg'];
const rawOutput = ['-c:v', 'rawvideo', '-f', 'rawvideo'];

/**
 * Makes an upright JPEG with square pixels, at most 1280 per side. Without `atSeconds` it uses the best of
 * several keyframes. Returns false when no frame could be decoded there or nearby. @throws AppError
 * `process-failed` when the file cannot be read or has no video; the signal's reason when aborted
 */
export async function makeFrame(request: FrameRequest): Promise<boolean> {
  const { atSeconds, durationSeconds } = request;
  if (atSeconds !== undefined) return extractFrame(request, atSeconds < durationSeconds ? atSeconds : 0);
  return (await extractBestKeyframe(request)) || (await extractFrame(request, 0));
}

export function imageRunLimits(input: Pick<VideoInput, 'memoryBytes'>, timeoutMs: number): RunLimits {
  return { timeoutMs, memoryBytes: input.memoryBytes ?? 2 * 2 ** 30, outputBytes: 256 * 2 ** 20 };
}

/** `keyframes`: decodes only keyframes, beginning with the last one before the position. */
export function seekInputOptions(video: VideoInput, atSeconds: number, keyframes: boolean): string[] {
  const seconds = (video.startSeconds ?? 0) + atSeconds;
  return [
    ...analysis,
    ...['-threads', keyframes ? '1' : '2'],
    ...(keyframes ? ['-noaccurate_seek', '-skip_frame', 'nokey'] : []),
    ...(seconds > 0 ? ['-ss', seconds.toFixed(6)] : []),
    ...(seconds === 0 && video.clock?.isSteady === true ? startAtFirst(video.clock) : []),
  ];
}

/** Passes timestamps through, because ffmpeg would drop frames from before the position. */
export function frameOutputOptions({ streamIndex }: VideoInput, frames: number, input = 0): string[] {
  const stream = streamIndex === undefined ? `${input}:V:0` : `${input}:${streamIndex}`;
  return ['-map', stream, '-frames:v', String(frames), '-vsync', 'passthrough', '-map_metadata', '-1'];
}

/** Absolute: ffmpeg would parse a colon as a protocol, and a leading dash as an option. */
export function ffmpegPath(path: string): string {
  return resolve(path);
}

/** Extracts the exact frame, the keyframe before it, or the first frame. */
async function extractFrame(request: FrameRequest, atSeconds: number): Promise<boolean> {
  const { signal, output } = request;
  const attempts = [
    { atSeconds, keyframes: false },
    { atSeconds, keyframes: true },
    ...(atSeconds > 0 ? [{ atSeconds: 0, keyframes: false }] : []),
  ];
  let failure: unknown;
  for (const attempt of attempts) {
    try {
      await writeFrame(request, attempt, output);
      if ((await sizeOf(output)) > 0) return true;
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  }
  await rm(output, { force: true });
  if (failure !== undefined) throw failure;
  return false;
}

async function writeFrame(
  request: FrameRequest,
  { atSeconds, keyframes }: { atSeconds: number; keyframes: boolean },
  output: string,
): Promise<void> {
  const { tools, source, signal, ids } = request;
  await tools.runCommand(
    command =>
      command
        .input(ffmpegPath(source))
        .inputOptions(seekInputOptions(request, atSeconds, keyframes))
        .output(ffmpegPath(output))
        .videoFilters(imageFilters({ fit: 'within', width: maxImageSide, height: maxImageSide }, request))
        .outputOptions([...frameOutputOptions(request, 1), ...jpegOutput]),
    { limits: imageRunLimits(request, 60_000), signal, purpose: 'frame', ids, isPausable: true },
  );
}

interface Position {
  readonly atSeconds: number;
  readonly keyframes: boolean;
}

async function extractBestKeyframe(request: FrameRequest): Promise<boolean> {
  const { durationSeconds, width, height } = request;
  let best = -1;
  const consider = async (positions: readonly Position[]) => {
    best = await extractIfBetter(request, positions, best);
  };
  const keyframesAt = (shares: readonly number[]) =>
    shares.map(share => ({ atSeconds: share * durationSeconds, keyframes: true }));
  if (width * height <= maxPixelsAtOnce) await consider(keyframesAt(firstPositions));
  // One that cannot be read may have ended the run for all.
  if (best < 0) for (const position of keyframesAt(firstPositions)) await consider([position]);
  if (best < GOOD_FRAME_SCORE && durationSeconds <= shortVideoSeconds) {
    const atSeconds = await findBestFrameSeconds(request);
    if (atSeconds !== undefined) await consider([{ atSeconds, keyframes: false }]);
  }
  for (const position of keyframesAt(furtherPositions)) {
    if (best < GOOD_FRAME_SCORE) await consider([position]);
  }
  return best >= 0;
}

/**
 * Extracts the frames of all positions with one run, since most of the work is to start it. Keeps the one with the highest score as output
 * when that is above `best`; gives the new best score.
 */
async function extractIfBetter(
  request: FrameRequest,
  positions: readonly Position[],
  best: number,
): Promise<number> {
  const { tools, source, signal, ids, output } = request;
  const candidates = positions.map((position, index) => ({
    ...position,
    index,
    image: `${output}.${index}`,
    raw: `${output}.${index}.raw`,
  }));
  try {
    await tools
      .runCommand(
        command => {
          for (const { atSeconds, keyframes } of candidates) {
            command.input(ffmpegPath(source)).inputOptions(seekInputOptions(request, atSeconds, keyframes));
          }
          for (const { index, image, raw } of candidates) {
            command
              .output(ffmpegPath(image))
              .videoFilters(
                imageFilters({ fit: 'within', width: maxImageSide, height: maxImageSide }, request),
              )
              .outputOptions([...frameOutputOptions(request, 1, index), ...jpegOutput])
              .output(ffmpegPath(raw))
              .videoFilters(imageFilters({ fit: 'exactly', ...scoredSize }, request))
              .outputOptions([...frameOutputOptions(request, 1, index), ...rawOutput]);
          }
          return command;
        },
        {
          limits: imageRunLimits(request, 20_000 * positions.length),
          signal,
          purpose: 'frame',
          ids,
          isPausable: true,
        },
      )
      .catch((error: unknown) => undefinedUnlessFatal(error, signal, positions.length > 1));
    let highest = best;
    for (const { image, raw } of candidates) {
      const score = await scoreOf(image, raw);
      if (score <= highest) continue;
      highest = score;
      await rename(image, output);
    }
    return highest;
  } finally {
    for (const { image, raw } of candidates) {
      await rm(image, { force: true });
      await rm(raw, { force: true });
    }
  }
}

/** Gives -1 where no frame was decoded. */
async function scoreOf(image: string, raw: string): Promise<number> {
  if ((await sizeOf(image)) === 0 || (await sizeOf(raw)) === 0) return -1;
  const luma = (await readFile(raw)).subarray(0, scoredSize.width * scoredSize.height);
  return scoreFrame(luma, scoredSize.width);
}

async function findBestFrameSeconds(request: FrameRequest): Promise<number | undefined> {
  const { tools, source, signal, ids, durationSeconds, output } = request;
  const raw = `${output}.raw`;
  const interval = Math.max(durationSeconds / shortVideoSamples, 0.04);
  try {
    await tools.runCommand(
      command =>
        command
          .input(ffmpegPath(source))
          .inputOptions([...seekInputOptions(request, 0, false), '-t', durationSeconds.toFixed(6)])
          .output(ffmpegPath(raw))
          .videoFilters([sampleEvery(interval), ...imageFilters({ fit: 'exactly', ...scoredSize }, request)])
          .outputOptions([...frameOutputOptions(request, shortVideoSamples), ...rawOutput]),
      { limits: imageRunLimits(request, 60_000), signal, purpose: 'frame', ids, isPausable: true },
    );
    const pixels = await readFile(raw);
    const lumaBytes = scoredSize.width * scoredSize.height;
    const frameBytes = (lumaBytes * 3) / 2;
    let best = { score: -1, index: 0 };
    for (let index = 0; (index + 1) * frameBytes <= pixels.length; index += 1) {
      const score = scoreFrame(
        pixels.subarray(index * frameBytes, index * frameBytes + lumaBytes),
        scoredSize.width,
      );
      if (score > best.score) best = { score, index };
    }
    return best.score < 0 ? undefined : (best.index + 0.5) * interval;
  } catch (error) {
    return undefinedUnlessFatal(error, signal);
  } finally {
    await rm(raw, { force: true });
  }
}

/** Samples the frame in the middle of each interval, repeated if there is no new one. */
export function sampleEvery(seconds: number): string {
  return `fps=fps=${(1 / seconds).toFixed(9)}:start_time=0:round=near`;
}

/** @param isLarge whether a smaller run may succeed */
function undefinedUnlessFatal(error: unknown, signal: AbortSignal, isLarge = false): undefined {
  signal.throwIfAborted();
  const codes = ['process-failed', ...(isLarge ? ['process-killed', 'out-of-resources'] : [])];
  if (error instanceof AppError && codes.includes(error.code)) return undefined;
  throw error;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
