import type { FfmpegCommand } from 'fluent-ffmpeg';

/** Limits of one run of ffmpeg or ffprobe. */
export interface RunLimits {
  /** Wall-clock time after which the process is stopped. */
  readonly timeoutMs: number;
  /** Time without progress after which the process is stopped; unlimited by default. */
  readonly stallMs?: number;
  /** Data of the process and the stacks of its threads, without its program and libraries. */
  readonly memoryBytes: number;
  /** Size of any one file that it writes. */
  readonly outputBytes: number;
}

export interface RunProgress {
  /** Media time of the newest output. */
  readonly timeSeconds: number;
}

export interface RunOptions {
  readonly limits: RunLimits;
  /** Stops the process; the run rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** For metrics and log lines, such as `encode`. */
  readonly purpose: string;
  /** For log lines. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: RunProgress) => void;
  /** Can be suspended (SIGSTOP) while live broadcasts lag; false by default. */
  readonly isPausable?: boolean;
}

/** Adds inputs, filters and outputs to a fluent-ffmpeg command. */
export type BuildCommand = (command: FfmpegCommand) => FfmpegCommand;

/** One stream of a probed file. Names follow ffprobe's. */
export interface ProbedStream {
  readonly index: number;
  readonly kind: 'video' | 'audio' | 'other';
  /** ffprobe's `codec_name`, such as `h264`; `unknown` when it has none. */
  readonly codec: string;
  readonly profile?: string;
  /** Coded size, before rotation. */
  readonly width?: number;
  readonly height?: number;
  /** Clockwise rotation for display: 0, 90, 180 or 270 degrees. */
  readonly rotation?: number;
  /** Width / height of a pixel; 1 where the file does not tell. */
  readonly pixelAspect?: number;
  readonly pixelFormat?: string;
  /** `bt709`, `smpte2084` (PQ), `arib-std-b67` (HLG), ... */
  readonly colorTransfer?: string;
  readonly colorPrimaries?: string;
  readonly colorSpace?: string;
  readonly fieldOrder?: string;
  /** Average frame rate, and the lowest rate that represents all timestamps. */
  readonly averageFrameRate?: number;
  readonly baseFrameRate?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly bitsPerSecond?: number;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  readonly isDefault: boolean;
  /** A cover image. */
  readonly isCoverImage: boolean;
  readonly language?: string;
}

export interface ProbedFile {
  /** Demuxer names, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
  readonly format: string;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  readonly bitsPerSecond?: number;
  readonly bytes: number;
  readonly streams: readonly ProbedStream[];
}

/** ffprobe and ffmpeg on files; every process has limits, an owner and an end. */
export interface MediaTools {
  /**
   * Probes a media file.
   *
   * @throws AppError `media-refused` when it is not media, or of a format that is not accepted (playlists, scripts, device inputs)
   */
  probe(path: string, signal: AbortSignal): Promise<ProbedFile>;
  /**
   * Returns the size in pixels of a PNG or JPEG image.
   *
   * @throws AppError `media-refused` when it is neither; otherwise as {@link probe}
   */
  sizeOfImage(
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly width: number; readonly height: number }>;
  /**
   * Runs an ffmpeg command to its end. Adds the options of every run: no stdin, progress reports, local files only.
   *
   * @throws AppError `process-failed` with the last lines of its output in the details' data; `disk-full`; the signal's reason when aborted
   */
  runCommand(build: BuildCommand, options: RunOptions): Promise<void>;
}
