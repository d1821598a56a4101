import type { FfmpegCommand } from 'fluent-ffmpeg';

/** What every run of ffmpeg or ffprobe on a foreign file may take at most. */
export interface RunLimits {
  /** Wall clock; the process is then stopped. */
  readonly timeoutMs: number;
  /** The process is stopped when it shows no progress for this long; not looked at unless given. */
  readonly stallMs?: number;
  /** What it may take for its data, stacks of its threads included; its program and libraries do not count. */
  readonly memoryBytes: number;
  /** Size of any one file that it writes. */
  readonly outputBytes: number;
}

/** How far a run has come. */
export interface RunProgress {
  /** Time of the newest output, in seconds of media. */
  readonly timeSeconds: number;
}

/** What all runs are told. */
export interface RunOptions {
  readonly limits: RunLimits;
  /** Stops it; the run then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** For metrics and log lines, such as `encode`. */
  readonly purpose: string;
  /** Go on its log lines. */
  readonly ids: Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: RunProgress) => void;
  /** May be stopped for a while (SIGSTOP) when live broadcasts lag; false unless given. */
  readonly isPausable?: boolean;
}

/** One stream of a probed file; what a file does not tell is undefined. Names follow ffprobe's. */
export interface ProbedStream {
  readonly index: number;
  readonly kind: 'video' | 'audio' | 'other';
  /** ffprobe's `codec_name`, such as `h264`, `aac`, `prores`; `unknown` when it has none. */
  readonly codec: string;
  readonly profile?: string;
  /** Coded picture, before rotation. */
  readonly width?: number;
  readonly height?: number;
  /** Clockwise degrees that the picture is to be turned by for showing: 0, 90, 180 or 270. */
  readonly rotation?: number;
  /** Shape of a pixel, width / height; 1 where the file does not say. */
  readonly pixelAspect?: number;
  readonly pixelFormat?: string;
  /** `bt709`, `smpte2084` (PQ), `arib-std-b67` (HLG), ... */
  readonly colorTransfer?: string;
  readonly colorPrimaries?: string;
  readonly colorSpace?: string;
  readonly fieldOrder?: string;
  /** Frames a second: the average, and the lowest rate that holds all timestamps. */
  readonly averageFrameRate?: number;
  readonly baseFrameRate?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly bitsPerSecond?: number;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  readonly isDefault: boolean;
  /** A cover image, not a film. */
  readonly isAttachedPicture: boolean;
  readonly language?: string;
}

/** What ffprobe found in a file. */
export interface ProbedFile {
  /** Names of the demuxer, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
  readonly format: string;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  readonly bitsPerSecond?: number;
  readonly bytes: number;
  readonly streams: readonly ProbedStream[];
}

/** The ways in which files are looked at and worked on; every process has limits, an owner and an end. */
export interface MediaTools {
  /**
   * Looks into a file.
   *
   * @throws AppError `media-refused` when it is no media, or of a format that is not taken (playlists, scripts, device inputs)
   */
  probe(path: string, signal: AbortSignal): Promise<ProbedFile>;
  /**
   * The size in pixels of a PNG or JPEG image.
   *
   * @throws AppError `media-refused` when it is none; otherwise as {@link probe}
   */
  sizeOfImage(
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly width: number; readonly height: number }>;
  /**
   * Runs ffmpeg to its end, with `args` as they are but for the options that all runs have (no stdin, progress, protocols of the
   * machine's files only).
   *
   * @throws AppError `process-failed` with the last lines that it said in the details' data; `disk-full`; the signal's reason when aborted
   */
  run(args: readonly string[], options: RunOptions): Promise<void>;
  /** The same for a command built with fluent-ffmpeg: `build` adds inputs, filters and outputs. */
  runCommand(build: (command: FfmpegCommand) => FfmpegCommand, options: RunOptions): Promise<void>;
}
