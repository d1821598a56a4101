import type { FfmpegCommand } from 'fluent-ffmpeg';

export interface RunLimits {
  readonly timeoutMs: number;
  /** Maximum time without progress. Default: unlimited. */
  readonly stallMs?: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

export interface RunProgress {
  readonly timeSeconds: number;
}

export interface RunOptions {
  readonly limits: RunLimits;
  readonly signal: AbortSignal;
  /** Name in metrics and log lines, such as `encode`. */
  readonly purpose: string;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly onProgress?: (progress: RunProgress) => void;
  /** Called with what it says, except progress. */
  readonly onLine?: (line: string) => void;
  /** 0..19. Default: that of the tools. */
  readonly niceness?: number;
  /** Suspended (SIGSTOP) while live broadcasts lag. Default false. */
  readonly isPausable?: boolean;
  /** Encodes on graphics hardware. Default false. */
  readonly usesHardware?: boolean;
}

/** Called twice: in a sandbox, the first time tells the files. */
export type BuildCommand = (command: FfmpegCommand) => FfmpegCommand;

/** Names follow ffprobe's. */
export interface ProbedStream {
  readonly index: number;
  readonly kind: 'video' | 'audio' | 'subtitle' | 'other';
  /** ffprobe's `codec_name`, or `unknown`. */
  readonly codec: string;
  readonly profile?: string;
  readonly width?: number;
  readonly height?: number;
  /** Clockwise: 0, 90, 180 or 270 degrees. */
  readonly rotation?: number;
  /** True when the picture is mirrored, before it is rotated, or turned by another angle: decoders of ffmpeg do it. */
  readonly isTransformed?: boolean;
  /** Width / height of a pixel, or 1. */
  readonly pixelAspect?: number;
  readonly pixelFormat?: string;
  /** `bt709`, `smpte2084` (PQ), `arib-std-b67` (HLG), ... */
  readonly colorTransfer?: string;
  readonly colorPrimaries?: string;
  readonly colorSpace?: string;
  readonly fieldOrder?: string;
  /** Frames may be decoded in another order than they are shown in. */
  readonly isReordered?: boolean;
  /** Average, and the lowest rate that represents all timestamps. */
  readonly averageFrameRate?: number;
  readonly baseFrameRate?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly bitsPerSecond?: number;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  readonly isDefault: boolean;
  readonly isCoverImage: boolean;
  /** Subtitles of foreign parts only. */
  readonly isForced?: boolean;
  readonly isForHearingImpaired?: boolean;
  /** Audio description. */
  readonly isForVisuallyImpaired?: boolean;
  readonly isCommentary?: boolean;
  /** Video with CEA-608 or CEA-708 captions. */
  readonly hasClosedCaptions?: boolean;
  readonly language?: string;
  readonly title?: string;
}

export interface ProbedFile {
  readonly format: string;
  readonly durationSeconds?: number;
  readonly startSeconds?: number;
  /** Start of all streams, subtitles included: ffmpeg shifts it to zero. */
  readonly containerStartSeconds?: number;
  /** First presentation time of each stream by its index, when ffmpeg would take jumps of the clock for a new one. */
  readonly steadyStartSeconds?: ReadonlyMap<number, number>;
  readonly bitsPerSecond?: number;
  readonly bytes: number;
  readonly streams: readonly ProbedStream[];
}

export interface MediaTools {
  /** @throws AppError `media-refused` for other files and refused formats (playlists, scripts, devices) */
  probe(path: string, signal: AbortSignal): Promise<ProbedFile>;
  /** Reads the size of a PNG or JPEG. @throws AppError `media-refused` for others; otherwise as {@link probe} */
  sizeOfImage(
    path: string,
    signal: AbortSignal,
  ): Promise<{ readonly width: number; readonly height: number }>;
  /**
   * Adds the options of every run: no stdin, progress reports, local files only. @throws AppError
   * `process-failed` with the last lines of output in the details' data; `disk-full`, `out-of-resources` and
   * `process-killed`, for which the file is not at fault; the signal's reason when aborted
   */
  runCommand(build: BuildCommand, options: RunOptions): Promise<void>;
}
