import type { ChartClock } from '../../ui/chart/chart-axes.ts';

const rangeNames = ['24h', '7d', '30d', 'custom'] as const;

export type RangeName = (typeof rangeNames)[number];

/** `custom` has a first and a last UTC day, such as `2026-03-04`. */
export interface TimeRange {
  readonly name: RangeName;
  readonly firstDay?: string | undefined;
  readonly lastDay?: string | undefined;
}

/** Milliseconds since 1970; `toMs` is exclusive. */
export interface TimeFrame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: 'hour' | 'day';
  readonly clock: ChartClock;
  /** The period of the same length before, if the server still has all of it. */
  readonly before: { readonly fromMs: number; readonly toMs: number } | undefined;
}

export const retentionDays = 30;

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const days: Readonly<Record<string, number>> = { '7d': 7, '30d': retentionDays };
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

export function parseRange(
  query: Readonly<Record<string, string | undefined>>,
  isSandbox: boolean,
  nowMs: number,
): TimeRange {
  const name = rangeNames.find(one => one === query.range);
  if (isSandbox) return { name: '24h' };
  if (name !== 'custom') return { name: name ?? '7d' };
  const today = dayOf(nowMs);
  const earliest = earliestDay(nowMs);
  const within = (day: string | undefined, otherwise: string) =>
    day === undefined || !dayPattern.test(day) || Number.isNaN(Date.parse(day))
      ? otherwise
      : day < earliest
        ? earliest
        : day > today
          ? today
          : day;
  const lastDay = within(query.to, today);
  const firstDay = within(query.from, dayOf(nowMs - 6 * dayMs));
  return { name, firstDay: firstDay > lastDay ? lastDay : firstDay, lastDay };
}

export function earliestDay(nowMs: number): string {
  return dayOf(nowMs - (retentionDays - 1) * dayMs);
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Begins with a whole hour or day, so that no point covers less than its interval. */
export function resolveRange(range: TimeRange, isSandbox: boolean, nowMs: number): TimeFrame {
  const [fromMs, toMs] = boundsOf(range, nowMs);
  const lengthMs = toMs - fromMs;
  // Compares whole days with whole days, and a running day with as much of an earlier one.
  const backMs = range.name === '24h' ? dayMs : Math.ceil(lengthMs / dayMs) * dayMs;
  const before = { fromMs: fromMs - backMs, toMs: toMs - backMs };
  const isKept = !isSandbox && before.fromMs >= nowMs - retentionDays * dayMs;
  const interval = lengthMs <= 2 * dayMs ? 'hour' : 'day';
  return {
    fromMs,
    toMs,
    interval,
    clock: interval === 'day' ? 'days' : range.name === 'custom' ? 'utc' : 'local',
    before: isKept ? before : undefined,
  };
}

function boundsOf(
  { name, firstDay, lastDay }: TimeRange,
  nowMs: number,
): readonly [fromMs: number, toMs: number] {
  if (name === '24h') return [Math.floor(nowMs / hourMs) * hourMs - 23 * hourMs, nowMs];
  const today = Math.floor(nowMs / dayMs) * dayMs;
  if (name !== 'custom') return [today - ((days[name] ?? 7) - 1) * dayMs, nowMs];
  const fromMs = Date.parse(firstDay ?? dayOf(nowMs));
  const endMs = Date.parse(lastDay ?? dayOf(nowMs)) + dayMs;
  return [fromMs, Math.min(endMs, nowMs)];
}

export function changePercent(now: number, before: number): number | undefined {
  return before === 0 ? undefined : ((now - before) / before) * 100;
}
