import type { ChartClock } from '../../ui/chart/chart-axes.ts';

/** Stretches of time that the analytics can show. */
export const rangeNames = ['24h', '7d', '30d', 'custom'] as const;

/** One of {@link rangeNames}. */
export type RangeName = (typeof rangeNames)[number];

/** What is looked at: a name, and for `custom` the first and the last day, such as `2026-03-04`, of UTC. */
export interface TimeRange {
  readonly name: RangeName;
  readonly firstDay?: string | undefined;
  readonly lastDay?: string | undefined;
}

/** A stretch of time in milliseconds since 1970; `toMs` is not in it. */
export interface TimeFrame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly interval: 'hour' | 'day';
  /** Which clock its points are told by: days are those of UTC, and so are the hours of days that were chosen. */
  readonly clock: ChartClock;
  /** As long, just before; undefined where the server no longer has all of that. */
  readonly before: { readonly fromMs: number; readonly toMs: number } | undefined;
}

/** Days for which the server keeps what was counted. */
export const retentionDays = 30;

const hourMs = 3_600_000;
const dayMs = 86_400_000;
const days: Readonly<Record<string, number>> = { '7d': 7, '30d': retentionDays };
const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** Reads a range out of the address of the page. In a sandbox there is only the last day. */
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

/** The first day of which the server still has everything. */
export function earliestDay(nowMs: number): string {
  return dayOf(nowMs - (retentionDays - 1) * dayMs);
}

/** The day of UTC, such as `2026-03-04`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The stretch of time that a range is now. It begins with a whole hour or day, so that no point of a plot is a part only. */
export function resolveRange(range: TimeRange, isSandbox: boolean, nowMs: number): TimeFrame {
  const [fromMs, toMs] = boundsOf(range, nowMs);
  const lengthMs = toMs - fromMs;
  // Of days that have passed, the same days before; of those that run, as much of them as of these.
  const backMs = range.name === '24h' ? dayMs : Math.ceil(lengthMs / dayMs) * dayMs;
  const before = { fromMs: fromMs - backMs, toMs: toMs - backMs };
  const isKept = !isSandbox && before.fromMs >= nowMs - retentionDays * dayMs;
  const interval = lengthMs <= 2 * dayMs ? 'hour' : 'day';
  return {
    ...{ fromMs, toMs, interval },
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

/** How much more a number is than another, in percent; undefined where that says nothing. */
export function changePercent(now: number, before: number): number | undefined {
  return before === 0 ? undefined : ((now - before) / before) * 100;
}
