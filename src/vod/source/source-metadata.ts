import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import type { SubtitleMetadata } from '../captions/subtitle-plan.ts';
import type { Resolution } from '../encode/ladder.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import { displayResolutionOf, frameRateOf, maxFramesPerSecond } from './video-plan.ts';

/** Metadata in the API's status. The duration is that of the clip. Unknown values are null. */
export interface SourceMetadata {
  readonly width: number | null;
  readonly height: number | null;
  /** Bitrate in kbit/s. */
  readonly bitrate: number | null;
  /** Duration in whole seconds. */
  readonly duration: number | null;
  readonly framerate: number | null;
  readonly samplerate: number | null;
  readonly videoCodec: string | null;
  readonly audioCodec: string | null;
  /** Aspect ratio such as `16/9`. */
  readonly aspectRatio: string | null;
  /** Absent without any. */
  readonly subtitles?: readonly SubtitleMetadata[];
  /** CEA-608 or CEA-708 captions are inside the video. */
  readonly closedCaptions?: boolean;
}

export function sourceMetadata(
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: ProbedStream | undefined,
  durationSeconds: number | undefined,
): SourceMetadata {
  const resolution = video && displayResolutionOf(video);
  return {
    width: resolution?.width ?? null,
    height: resolution?.height ?? null,
    bitrate: file.bitsPerSecond === undefined ? null : Math.round(file.bitsPerSecond / 100) / 10,
    duration: rounded(durationSeconds),
    framerate: rounded(frameRateOf(video)),
    samplerate: rounded(audio?.sampleRate),
    videoCodec: video?.codec ?? null,
    audioCodec: audio?.codec ?? null,
    aspectRatio: resolution === undefined ? null : aspectRatioOf(resolution),
  };
}

export function measuredMetadata(
  {
    sourceMetadata,
    part,
    bytes,
  }: { readonly sourceMetadata: SourceMetadata; readonly part: unknown; readonly bytes: number },
  renditions: readonly RenditionRecord[],
): SourceMetadata {
  const seconds = Math.max(
    0,
    ...renditions.map(({ endSeconds, durationSeconds }) => endSeconds ?? durationSeconds),
  );
  if (seconds === 0) return sourceMetadata;
  const isDurationCorrect =
    sourceMetadata.duration !== null && Math.abs(sourceMetadata.duration - seconds) <= 1;
  const frameRate = renditions.findLast(({ kind }) => kind === 'video')?.frameRate;
  // Renditions of faster videos have the maximum rate, or it was not true.
  const isRateCorrect =
    sourceMetadata.framerate !== null &&
    (sourceMetadata.framerate <= maxFramesPerSecond || (frameRate ?? 0) > maxFramesPerSecond / 2);
  return {
    ...sourceMetadata,
    duration: Math.round(seconds),
    framerate: isRateCorrect || frameRate === undefined ? sourceMetadata.framerate : Math.round(frameRate),
    // The share of the file's bytes that a part takes is unknown.
    bitrate:
      isDurationCorrect || part !== undefined
        ? sourceMetadata.bitrate
        : Math.round((bytes * 8) / seconds / 100) / 10,
  };
}

function rounded(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : Math.round(value);
}

function aspectRatioOf({ width, height }: Resolution): string {
  const ratio = width / height;
  for (const [w, h] of [
    [16, 9],
    [4, 3],
    [1, 1],
    [9, 16],
    [3, 4],
    [21, 9],
  ] as const) {
    if (Math.abs(ratio / (w / h) - 1) < 0.01) return `${w}/${h}`;
  }
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor}/${height / divisor}`;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
