import { minClipMs } from '../../../../shared/limits/resource-limits.ts';
import { parseTime } from '../../../shared/time-text.ts';

/** Seconds. */
export interface ClipTimes {
  readonly start: number;
  readonly end: number;
}

export const minClipSeconds = minClipMs / 1000;

/** Moves the end along when the start comes too close. */
export function withStart({ end }: ClipTimes, wanted: number, durationSeconds: number): ClipTimes {
  const start = within(wanted, 0, Math.max(0, durationSeconds - minClipSeconds));
  return { start, end: within(end, start + minClipSeconds, durationSeconds) };
}

/** Moves the start along when the end comes too close. */
export function withEnd({ start }: ClipTimes, wanted: number, durationSeconds: number): ClipTimes {
  const end = within(wanted, Math.min(minClipSeconds, durationSeconds), durationSeconds);
  return { start: within(start, 0, Math.max(0, end - minClipSeconds)), end };
}

/** Undefined while the text is no time. */
export function typedTime(text: string): number | undefined {
  return text.trim() === '' ? undefined : parseTime(text);
}

function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
