import { stat } from 'node:fs/promises';
import type { FfmpegCommand } from 'fluent-ffmpeg';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { environmentOf } from './build/find-build.ts';
import type { FfmpegBuild } from './build/find-ffmpeg.ts';
import type { FfprobeBuild } from './build/find-ffprobe.ts';
import { type FpsModeSupport, withFpsMode } from './build/fps-mode.ts';
import type { MediaTools, ProbedFile, RunLimits, RunOptions } from './media-tools.ts';
import {
  allowedFormats,
  imageFormats,
  mediaRefused,
  probeArguments,
  readProbeOutput,
} from './probe/probe-output.ts';
import { BoundedRun, childLimitsOf, type RunResult } from './process/bounded-run.ts';
import type { ProcessOwner } from './process/owned-process.ts';
import { ProgressReader } from './progress-reader.ts';
import { isDiskFull, oversizedFrame, probeRefusal, runFailure } from './run-failure.ts';

/** How a run ended for the one who asked for it. */
export type RunOutcome = 'done' | 'failed' | 'aborted';

/** What is reported of all runs. */
export interface FfmpegToolsObserver {
  /** @param purpose as in its {@link RunOptions}; `probe` for a look into a file */
  runEnded(purpose: string, outcome: RunOutcome, durationMs: number): void;
}

/** What the tools are made of. */
export interface FfmpegToolsOptions {
  readonly ffmpeg: Pick<FfmpegBuild, 'path' | 'source'> & FpsModeSupport;
  readonly ffprobe: Pick<FfprobeBuild, 'path' | 'source'>;
  readonly owner: ProcessOwner;
  readonly probeLimits: RunLimits;
  /** Largest picture of a video file: width times height. */
  readonly maxPixels: number;
  /** Largest image: width times height. */
  readonly maxImagePixels: number;
  /** 0..19: how much all of them give way to live streams. */
  readonly niceness: number;
  readonly log: Logger;
  readonly observer?: FfmpegToolsObserver;
}

type Build = FfmpegToolsOptions['ffmpeg'];

/** Over a thousand streams; ffprobe itself stops at 1000. More would keep everybody else waiting while it is parsed. */
const maxProbeOutputLength = 2 * 1024 * 1024;
const runArguments = ['-nostdin', '-hide_banner', '-loglevel', 'warning', '-nostats', '-progress', 'pipe:1'];

/**
 * ffprobe and ffmpeg on files that may be hostile. Every process has an owner, limits of time, memory and output, gives way to live
 * streams, opens files of this machine only, and is gone when the promise settles.
 */
export class FfmpegTools implements MediaTools {
  readonly #options: FfmpegToolsOptions;
  readonly #log: Logger;
  readonly #pausable = new Set<BoundedRun>();
  #isPaused = false;

  constructor(options: FfmpegToolsOptions) {
    this.#options = options;
    this.#log = options.log.child('ffmpeg');
  }

  /** Lets all pausable runs stand still, and those that start later. */
  pauseAll(): void {
    this.#isPaused = true;
    for (const run of this.#pausable) run.pause();
  }

  /** Lets them go on. */
  resumeAll(): void {
    this.#isPaused = false;
    for (const run of this.#pausable) run.resume();
  }

  async probe(path: string, signal: AbortSignal): Promise<ProbedFile> {
    const { maxPixels } = this.#options;
    const file = await this.#probe(path, signal, allowedFormats);
    for (const { width = 0, height = 0, isAttachedPicture } of file.streams) {
      if (width * height > maxPixels && !isAttachedPicture) throw tooLarge(width, height, maxPixels);
    }
    return file;
  }

  async sizeOfImage(path: string, signal: AbortSignal): Promise<{ width: number; height: number }> {
    const { streams } = await this.#probe(path, signal, imageFormats);
    const { width, height } = streams.find(({ kind }) => kind === 'video') ?? {};
    if (width === undefined || height === undefined) throw mediaRefused('The image cannot be read.');
    return { width, height };
  }

  async #probe(path: string, signal: AbortSignal, formats: readonly string[]): Promise<ProbedFile> {
    const { ffprobe, probeLimits } = this.#options;
    const bytes = await sizeOf(path);
    if (bytes === 0) throw mediaRefused('The file is empty.');
    const options = { limits: probeLimits, signal, purpose: 'probe', ids: {} };
    let output = '';
    const args = [...this.#decoderLimits(), ...probeArguments(path, formats)];
    const end = await this.#execute(ffprobe, args, options, (text, run) => {
      if (output.length + text.length > maxProbeOutputLength)
        run.stopForExceeding('told of too many streams');
      else output += text;
    });
    // One whose picture was not decoded for its size may end well.
    const undecoded = oversizedFrame(end.exit);
    if (undecoded !== undefined) throw tooLarge(...undecoded, this.#options.maxPixels);
    if (end.exit.kind === 'ended') return readProbeOutput(output, bytes);
    throw probeRefusal(end) ?? runFailure('ffprobe', end);
  }

  async run(args: readonly string[], options: RunOptions): Promise<void> {
    let running: BoundedRun | undefined;
    const progress = new ProgressReader(made => {
      running?.noteProgress();
      try {
        options.onProgress?.(made);
      } catch (error) {
        this.#log.error('progress-not-taken', { ...options.ids, error });
      }
    });
    const inputOptions = ['-protocol_whitelist', 'file,pipe', ...this.#decoderLimits()];
    // They hold for one input, so they stand before each.
    const named = withFpsMode(args, this.#options.ffmpeg);
    const all = [...runArguments, ...named.flatMap(arg => (arg === '-i' ? [...inputOptions, arg] : [arg]))];
    const end = await this.#execute(this.#options.ffmpeg, all, options, (text, run) => {
      running = run;
      progress.push(text);
    });
    if (end.exit.kind !== 'ended' || isDiskFull(end.exit)) throw runFailure('ffmpeg', end);
  }

  /**
   * fluent-ffmpeg writes the arguments, and {@link run} does the rest: its own way to run them looks for programs and abilities by
   * more processes, keeps what it found for all builds together, and knows no limits.
   */
  async runCommand(build: (command: FfmpegCommand) => FfmpegCommand, options: RunOptions): Promise<void> {
    const { default: createCommand } = await import('fluent-ffmpeg');
    const args = build(createCommand())._getArguments();
    if (args.includes('pipe:0') || args.includes('pipe:1')) {
      throw new AppError('server-error', 'a command of ffmpeg can read and write files only');
    }
    await this.run(args, options);
  }

  /** Holds for pictures that grow in the middle of a file, and for images. Twice the limit of videos: decoders count whole blocks with their margins. */
  #decoderLimits(): string[] {
    const { maxPixels, maxImagePixels } = this.#options;
    return ['-max_pixels', String(Math.max(2 * maxPixels, maxImagePixels))];
  }

  async #execute(
    build: Build,
    args: readonly string[],
    options: RunOptions,
    onStdout: (text: string, run: BoundedRun) => void,
  ): Promise<RunResult> {
    const { signal, purpose } = options;
    signal.throwIfAborted();
    const startedAtMs = performance.now();
    const run = this.#start(build, args, options, onStdout);
    const end = await run.ended;
    this.#pausable.delete(run);
    const outcome = signal.aborted ? 'aborted' : end.exit.kind === 'ended' ? 'done' : 'failed';
    this.#options.observer?.runEnded(purpose, outcome, performance.now() - startedAtMs);
    signal.throwIfAborted();
    return end;
  }

  #start(
    build: Build,
    args: readonly string[],
    options: RunOptions,
    onStdout: (text: string, run: BoundedRun) => void,
  ): BoundedRun {
    const { purpose, ids, limits, signal } = options;
    try {
      const child = this.#options.owner.start(build.path, args, {
        outputs: 0,
        limits: childLimitsOf(limits),
        ids: { purpose, ...ids },
        isOnFiles: true,
        niceness: this.#options.niceness,
        ...environmentOf(build),
      });
      const run = new BoundedRun(child, limits, signal);
      child
        .output(1)
        .setEncoding('utf8')
        .on('data', (text: string) => onStdout(text, run));
      if (options.isPausable) {
        this.#pausable.add(run);
        if (this.#isPaused) run.pause();
      }
      return run;
    } catch (error) {
      throw new AppError('process-failed', messageOf(error), { cause: error });
    }
  }
}

function tooLarge(width: number, height: number, maxPixels: number): AppError {
  return mediaRefused(
    `The picture is too large: ${width} x ${height} is more than the ${maxPixels.toLocaleString('en')} pixels that this server accepts. Export the video in a smaller size.`,
  );
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw new AppError('process-failed', `the file cannot be looked into: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
