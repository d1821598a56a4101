import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FfmpegCommand } from 'fluent-ffmpeg';
import { LRUCache } from 'lru-cache';
import { AppError, messageOf } from '../shared/errors.ts';
import { fileVersion } from '../shared/files/file-version.ts';
import type { Logger } from '../shared/logger.ts';
import { maxEntries } from '../shared/lru-limit.ts';
import { environmentOf, type StartedProgram } from './build/find-build.ts';
import { type FpsModeSupport, withFpsMode } from './build/find-ffmpeg.ts';
import { type CommandAccess, prepareAccess } from './command-access.ts';
import type {
  BuildCommand,
  MediaTools,
  ProbedFile,
  ProbedStream,
  RunLimits,
  RunOptions,
} from './media-tools.ts';
import { ClockSurvey, discontinuousFormats, type SurveyedClock } from './probe/clock-survey.ts';
import {
  allowedFormats,
  firstPacketArguments,
  imageFormats,
  mediaRefused,
  packetTimesArguments,
  probeArguments,
  readProbeOutput,
  usualRawFrameRate,
} from './probe/probe-output.ts';
import { BoundedRun, childLimitsOf, type RunResult } from './process/bounded-run.ts';
import { CommandProcess } from './process/command-process.ts';
import { type OwnedProcess, type ProcessOwner, requireFreeDescriptors } from './process/owned-process.ts';
import { ProgressReader } from './progress-reader.ts';
import { isDiskFull, oversizedFrame, probeRefusal, runFailure } from './run-failure.ts';

type CreateCommand = typeof import('fluent-ffmpeg');
type RunOutcome = 'done' | 'failed' | 'aborted';

interface FfmpegToolsObserver {
  runEnded(purpose: string, outcome: RunOutcome, durationMs: number): void;
}

export interface FfmpegToolsOptions {
  readonly ffmpeg: StartedProgram & FpsModeSupport;
  readonly ffprobe: StartedProgram;
  readonly owner: ProcessOwner;
  readonly probeLimits: RunLimits;
  readonly maxPixels: number;
  readonly maxImagePixels: number;
  /** 0..19. */
  readonly niceness: number;
  readonly log: Logger;
  readonly observer?: FfmpegToolsObserver;
}

/**
 * Maximum output, for over a thousand streams, where ffprobe itself stops. Parsing more would block the event
 * loop.
 */
const maxProbeOutputLength = 2 * 1024 * 1024;
/** Maximum doubtful streams, each of which is looked for in the whole file. */
const maxDoubtfulStreams = 4;
/** Files with more streams are rare, and would fill the memory. */
const maxKeptStreams = 32;
/** Slow disks read this much. */
const minSurveyBytesPerMs = 5_000;
const maxSurveyLineLength = 1_000;
const runArguments = [
  '-nostdin',
  '-hide_banner',
  '-loglevel',
  'warning',
  '-nostats',
  '-progress',
  'pipe:2',
  '-y',
];

/**
 * Runs ffprobe and ffmpeg on hostile files: with limits of time, memory and output, below live streams, on
 * local files only. The process is gone when the promise settles.
 */
export class FfmpegTools implements MediaTools {
  readonly #options: FfmpegToolsOptions;
  readonly #log: Logger;
  readonly #pausable = new Set<BoundedRun>();
  /** Results by file: the jobs of a video read the same one. */
  readonly #probed = new LRUCache<string, ProbedFile>(maxEntries(100));
  #isPaused = false;

  constructor(options: FfmpegToolsOptions) {
    this.#options = options;
    this.#log = options.log.child('ffmpeg');
  }

  pauseAll(): void {
    this.#isPaused = true;
    for (const run of this.#pausable) run.pause();
  }

  resumeAll(): void {
    this.#isPaused = false;
    for (const run of this.#pausable) run.resume();
  }

  async probe(path: string, signal: AbortSignal): Promise<ProbedFile> {
    signal.throwIfAborted();
    const key = fileVersion(path, await statOf(path));
    const known = this.#probed.get(key);
    if (known !== undefined) return known;
    const file = await this.#probeFully(path, signal);
    if (file.streams.length <= maxKeptStreams) this.#probed.set(key, file);
    return file;
  }

  async #probeFully(path: string, signal: AbortSignal): Promise<ProbedFile> {
    const { maxPixels } = this.#options;
    const probed = await this.#probe(path, signal, allowedFormats);
    const stated = await this.#withStatedRate(path, probed, signal);
    const file = await this.#withoutEmptyVideo(path, stated, signal);
    for (const { width = 0, height = 0, isCoverImage } of file.streams) {
      if (width * height > maxPixels && !isCoverImage) throw tooLarge(width, height, maxPixels);
    }
    return this.#withClock(path, file, signal);
  }

  async sizeOfImage(path: string, signal: AbortSignal): Promise<{ width: number; height: number }> {
    const { streams } = await this.#probe(path, signal, imageFormats);
    const { width, height } = streams.find(({ kind }) => kind === 'video') ?? {};
    if (width === undefined || height === undefined) throw mediaRefused('The image cannot be read.');
    return { width, height };
  }

  async #probe(path: string, signal: AbortSignal, formats: readonly string[]): Promise<ProbedFile> {
    const { size: bytes } = await statOf(path);
    if (bytes === 0) throw mediaRefused('The file is empty.');
    return readProbeOutput(await this.#runProbe(path, probeArguments(path, formats), signal), bytes);
  }

  /** Cameras write a video track without a frame beside audio. Only such a track, and a damaged one, has no format of pixels. */
  async #withoutEmptyVideo(path: string, file: ProbedFile, signal: AbortSignal): Promise<ProbedFile> {
    const empty = new Set<ProbedStream>();
    const doubtful = file.streams.filter(
      ({ kind, pixelFormat }) => kind === 'video' && pixelFormat === undefined,
    );
    for (const stream of doubtful.slice(0, maxDoubtfulStreams)) {
      const output = await this.#runProbe(path, firstPacketArguments(path, stream.index), signal);
      if (output.trim() === '') empty.add(stream);
    }
    return empty.size === 0 ? file : { ...file, streams: file.streams.filter(stream => !empty.has(stream)) };
  }

  /** Corrects raw H.264 of 12.5 frames a second: ffprobe 7 reports the rate of its fields, which is the one that it assumes of any raw stream. */
  async #withStatedRate(path: string, file: ProbedFile, signal: AbortSignal): Promise<ProbedFile> {
    const [stream, ...others] = file.streams;
    const isDoubtful =
      file.format === 'h264' &&
      stream?.averageFrameRate === usualRawFrameRate &&
      stream.baseFrameRate === usualRawFrameRate;
    if (!isDoubtful) return file;
    const output = await this.#runProbe(path, firstPacketArguments(path, stream.index), signal);
    const [, duration] = /^packet,\d+,([\d.]+)/.exec(output) ?? [];
    const rate = 1 / Number(duration);
    if (!(rate < usualRawFrameRate)) return file;
    return { ...file, streams: [{ ...stream, averageFrameRate: rate, baseFrameRate: rate }, ...others] };
  }

  async #withClock(path: string, file: ProbedFile, signal: AbortSignal): Promise<ProbedFile> {
    if (!discontinuousFormats.includes(file.format)) return file;
    const clock = await this.#surveyClock(path, file, signal);
    if (clock.kind === 'steady') return { ...file, steadyStartSeconds: clock.startSeconds };
    return clock.kind === 'changing' ? { ...file, durationSeconds: clock.durationSeconds } : file;
  }

  async #surveyClock(
    path: string,
    { streams, bytes }: ProbedFile,
    signal: AbortSignal,
  ): Promise<SurveyedClock> {
    const played = streams.filter(({ kind }) => kind === 'video' || kind === 'audio');
    const survey = new ClockSurvey(new Map(played.map(({ index, kind }) => [index, kind === 'video'])));
    let rest = '';
    const read = (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!.slice(-maxSurveyLineLength);
      for (const line of lines) survey.takeLine(line);
    };
    const { probeLimits } = this.#options;
    const limits = { ...probeLimits, timeoutMs: probeLimits.timeoutMs + bytes / minSurveyBytesPerMs };
    try {
      await this.#runProbe(path, packetTimesArguments(path), signal, { limits, read });
    } catch (error) {
      signal.throwIfAborted();
      this.#log.warn('clock-not-surveyed', { error });
      return { kind: 'usual' };
    }
    return survey.clock;
  }

  /** @param stream takes the output instead, which then has no maximum length */
  async #runProbe(
    path: string,
    args: readonly string[],
    signal: AbortSignal,
    stream?: { readonly limits: RunLimits; readonly read: (text: string) => void },
  ): Promise<string> {
    const { ffprobe, owner, niceness, maxPixels } = this.#options;
    const limits = stream?.limits ?? this.#options.probeLimits;
    const options = { limits, signal, purpose: 'probe', ids: {} };
    let output = '';
    const result = await this.#execute(options, run => {
      const child = owner.start(ffprobe.path, [...this.#decoderLimits(), ...args], {
        outputs: 0,
        limits: childLimitsOf(limits),
        access: { reads: [path] },
        ids: { purpose: 'probe' },
        hasStdout: true,
        niceness,
        ...environmentOf(ffprobe),
      });
      child
        .output(1)
        .setEncoding('utf8')
        .on('data', (text: string) => {
          if (stream !== undefined) stream.read(text);
          else if (output.length + text.length > maxProbeOutputLength)
            run().stopForExceeding('listed too many streams');
          else output += text;
        });
      return child;
    });
    // The exit code can be 0 although a frame was too large to be decoded.
    const oversized = oversizedFrame(result.exit);
    if (oversized !== undefined) throw tooLarge(...oversized, maxPixels);
    if (result.exit.kind === 'ended') return output;
    throw probeRefusal(result) ?? runFailure('ffprobe', result);
  }

  async runCommand(build: BuildCommand, options: RunOptions): Promise<void> {
    const { owner } = this.#options;
    const { default: createCommand } = await import('fluent-ffmpeg');
    const files = owner.limits.isIsolated ? await prepareAccess(createCommand(), build) : undefined;
    let hasSucceeded = false;
    try {
      await this.#runCommand(createCommand, build, options, files);
      hasSucceeded = true;
    } finally {
      await files?.finish(hasSucceeded);
    }
  }

  async #runCommand(
    createCommand: CreateCommand,
    build: BuildCommand,
    options: RunOptions,
    files: CommandAccess | undefined,
  ): Promise<void> {
    const { ffmpeg, owner } = this.#options;
    const { niceness = this.#options.niceness, usesHardware: hasDevices } = options;
    const { program, prefix, hasLauncher } = owner.limits.launch(
      ffmpeg.path,
      childLimitsOf(options.limits),
      { ...files?.access, hasDevices },
      environmentOf(ffmpeg).environment,
    );
    createCommand.setFfmpegPath(program);
    const command = build(this.#withRunOptions(createCommand({ niceness }), prefix));
    const result = await this.#execute(options, run => {
      const progress = new ProgressReader(made => {
        run().noteProgress();
        try {
          options.onProgress?.(made);
        } catch (error) {
          this.#log.error('progress-not-taken', { ...options.ids, error });
        }
      });
      requireFreeDescriptors(ffmpeg.path);
      const child: CommandProcess = new CommandProcess(command, {
        log: owner.log,
        ids: { purpose: options.purpose, ...options.ids },
        hasLauncher,
        isIsolated: owner.limits.isIsolated,
        onPid: pid => owner.limits.watch(pid, child.exited),
        takeLine: line => {
          const isProgress = progress.takeLine(line);
          if (!isProgress) options.onLine?.(line);
          return isProgress;
        },
      });
      owner.track(child);
      return child;
    });
    if (result.exit.kind !== 'ended' || isDiskFull(result.exit)) throw runFailure('ffmpeg', result);
  }

  #withRunOptions(command: FfmpegCommand, prefix: readonly string[]): FfmpegCommand {
    const { ffmpeg } = this.#options;
    const { input, output, outputOptions } = command;
    let first = [...prefix, ...runArguments];
    return Object.assign(command, {
      input: (source: unknown) => {
        input.call(command, requirePath(source));
        command.inputOptions(...first, '-protocol_whitelist', 'file,pipe', ...this.#decoderLimits());
        first = [];
        return command;
      },
      output: (target: unknown) => output.call(command, requirePath(target)),
      outputOptions: (...options: (string | string[])[]) =>
        outputOptions.call(command, ...withFpsMode(options.flat(), ffmpeg)),
    });
  }

  /** Limits for images, and pictures that grow within a file. Twice the limit: decoders count padded blocks. */
  #decoderLimits(): string[] {
    const { maxPixels, maxImagePixels } = this.#options;
    return ['-max_pixels', String(Math.max(2 * maxPixels, maxImagePixels))];
  }

  async #execute(options: RunOptions, start: (run: () => BoundedRun) => OwnedProcess): Promise<RunResult> {
    const { signal, purpose, limits, isPausable } = options;
    signal.throwIfAborted();
    const startedAtMs = performance.now();
    let run: BoundedRun;
    try {
      run = new BoundedRun(
        start(() => run),
        limits,
        signal,
      );
    } catch (error) {
      throw new AppError('out-of-resources', messageOf(error), { cause: error });
    }
    if (isPausable) {
      this.#pausable.add(run);
      if (this.#isPaused) run.pause();
    }
    const result = await run.ended;
    this.#pausable.delete(run);
    const outcome = signal.aborted ? 'aborted' : result.exit.kind === 'ended' ? 'done' : 'failed';
    this.#options.observer?.runEnded(purpose, outcome, performance.now() - startedAtMs);
    signal.throwIfAborted();
    return result;
  }
}

function requirePath(path: unknown): string {
  if (typeof path === 'string') return path;
  throw new AppError('server-error', 'An ffmpeg command reads and writes files only, not streams.');
}

function tooLarge(width: number, height: number, maxPixels: number): AppError {
  return mediaRefused(
    `The video frames are too large: ${width} x ${height} is more than the ${maxPixels.toLocaleString('en')} pixels that this server accepts. Export the video in a smaller size.`,
  );
}

async function statOf(path: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw new AppError('process-failed', `The file cannot be probed: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
