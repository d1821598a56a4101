import { attributeError } from '../../../http/routing/validation.ts';
import { minClipMs } from '../../../shared/limits/resource-limits.ts';
import type { Clip } from '../videos/video.ts';

/** Milliseconds. */
export interface ClipRange {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The part of a source that a clip wants, which ends with the source at the latest.
 * @throws AppError `invalid-attribute` when it is empty or too short
 */
export function clipRange(clip: Clip, { startMs: availableMs, endMs: sourceEndMs }: ClipRange): ClipRange {
  const { lastMs, startMs = availableMs, endMs = sourceEndMs } = clip;
  const range =
    lastMs === undefined
      ? { startMs, endMs: Math.min(endMs, sourceEndMs) }
      : { startMs: Math.max(availableMs, sourceEndMs - lastMs), endMs: sourceEndMs };
  if (range.startMs < availableMs) {
    throw attributeError(
      'clip[startTimecode]',
      `The broadcast can be clipped from ${timecodeOf(availableMs)} to ${timecodeOf(sourceEndMs)}. Clip its recording to get an earlier part.`,
    );
  }
  if (range.startMs >= sourceEndMs) {
    throw attributeError(
      'clip[startTimecode]',
      `The clip starts after the end of the source, which is at ${timecodeOf(sourceEndMs)}.`,
    );
  }
  if (range.endMs - range.startMs < minClipMs) {
    throw attributeError('clip[endTimecode]', 'A clip must be at least one second long.');
  }
  return range;
}

function timecodeOf(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString().slice(11, -1);
}
