import { dayOf } from '../../shared/day.ts';

/** Seconds since 1970; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Segment extends Span {
  readonly seconds: number;
}

export const intervals = { minute: 60, hour: 3_600, day: 86_400 } as const;

export type Interval = keyof typeof intervals;

/** Rounds down to minutes and includes the current one. Consecutive frames neither overlap nor leave gaps. */
export function minutesOf(fromMs: number, toMs: number, nowMs: number): Span {
  const minute = (ms: number) => Math.floor(ms / 60_000) * 60;
  const from = minute(fromMs);
  // No counts exist for the future, so whole days can be read up to the end of today.
  if (toMs > minute(nowMs) * 1000) return { from, to: (dayOf(Math.max(nowMs, fromMs)) + 1) * 86_400 };
  return { from, to: Math.max(minute(toMs), from + 60) };
}

/** @param spans lengths of counts in seconds, longest first; the last one divides all ends */
export function segmentsOf({ from, to }: Span, spans: readonly number[]): Segment[] {
  const [seconds, ...finer] = spans;
  if (seconds === undefined || from >= to) return [];
  const first = Math.ceil(from / seconds) * seconds;
  const last = Math.floor(to / seconds) * seconds;
  if (first >= last) return segmentsOf({ from, to }, finer);
  return [
    ...segmentsOf({ from, to: first }, finer),
    { from: first, to: last, seconds },
    ...segmentsOf({ from: last, to }, finer),
  ];
}

/** Returns starts in seconds since 1970. */
export function intervalsOf({ from, to }: Span, seconds: number): number[] {
  const first = Math.floor(from / seconds) * seconds;
  const count = Math.ceil((to - first) / seconds);
  return Array.from({ length: Math.max(0, count) }, (_, index) => first + index * seconds);
}
