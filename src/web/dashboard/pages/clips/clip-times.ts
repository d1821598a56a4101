import { minClipMs } from '../../../../shared/limits/resource-limits.ts';
import { parseTime } from '../../../shared/time-text.ts';
import { t } from '../../texts/overview.ts';

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

export type ClipEdge = 'start' | 'end';

/** Times of a clip that are being chosen. Typed ones may be wrong. */
export interface ClipDraft extends ClipTimes {
  /** Texts of the fields that were typed in since a handle was moved. */
  readonly typed?: Partial<Record<ClipEdge, string>>;
  /** The edge that was changed last. */
  readonly last?: ClipEdge;
}

/** Keeps the last valid time while a text is none. */
export function typeTime(draft: ClipDraft, edge: ClipEdge, text: string): ClipDraft {
  const seconds = typedTime(text) ?? draft[edge];
  return { ...draft, [edge]: seconds, typed: { ...draft.typed, [edge]: text }, last: edge };
}

/** @param shownTime formats a time as the fields show it */
export function clipFaults(
  { start, end, typed = {}, last = 'end' }: ClipDraft,
  durationSeconds: number,
  shownTime: (seconds: number) => string,
): Partial<Record<ClipEdge, string>> {
  const faults: Partial<Record<ClipEdge, string>> = {};
  for (const edge of ['start', 'end'] as const) {
    const text = typed[edge];
    const seconds = edge === 'start' ? start : end;
    if (text !== undefined && typedTime(text) === undefined) faults[edge] = t('clip.wrongTime');
    // The fields show rounded times.
    else if (seconds > durationSeconds + 0.01)
      faults[edge] = t('clip.afterEnd', { time: shownTime(durationSeconds) });
  }
  if (faults.start === undefined && faults.end === undefined && end - start < minClipSeconds - 0.001) {
    if (end > start) faults[last] = t('clip.tooShort');
    else faults[last] = last === 'start' ? t('clip.wrongStart') : t('clip.wrongEnd');
  }
  return faults;
}

/** Undefined while the text is no time. */
export function typedTime(text: string): number | undefined {
  return text.trim() === '' ? undefined : parseTime(text);
}

function within(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
