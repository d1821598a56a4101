import { formatDate } from '../../format/time.ts';
import { t } from '../../texts/videos.ts';

/** Days of each period. */
export const datePresets = { today: 1, '7d': 7, '30d': 30, '365d': 365 } as const;

export type DatePreset = keyof typeof datePresets;

export function isPreset(date: string): date is DatePreset {
  return Object.hasOwn(datePresets, date);
}

/** Days as in `2026-03-01..2026-03-04`, both included. Either may be missing. */
export function daysOf(date: string): { readonly first: string; readonly last: string } | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})?\.\.(\d{4}-\d{2}-\d{2})?$/.exec(date);
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  const isValid = [first, last].every(day => day === '' || isDay(day));
  return isValid && first + last !== '' ? { first, last } : undefined;
}

export function isDateChoice(date: string): boolean {
  return isPreset(date) || daysOf(date) !== undefined;
}

/** Times of the API for days in the time zone of the reader. They stay the same all day. */
export function dateRangeOf(date: string, nowMs: number): { readonly from?: string; readonly to?: string } {
  if (isPreset(date)) {
    const start = new Date(nowMs);
    start.setHours(0, 0, 0, 0);
    start.setDate(start.getDate() - (datePresets[date] - 1));
    return { from: start.toISOString() };
  }
  const { first = '', last = '' } = daysOf(date) ?? {};
  const end = startOfDay(last);
  if (last !== '') end.setDate(end.getDate() + 1);
  return {
    ...(first === '' ? {} : { from: startOfDay(first).toISOString() }),
    ...(last === '' ? {} : { to: end.toISOString() }),
  };
}

export function dateLabel(date: string): string {
  if (isPreset(date)) return t(`filter.date.${date}`);
  const { first = '', last = '' } = daysOf(date) ?? {};
  const text = (day: string) => formatDate(startOfDay(day).getTime());
  if (first === '') return t('filter.until', { date: text(last) });
  if (last === '') return t('filter.since', { date: text(first) });
  return first === last ? text(first) : `${text(first)} – ${text(last)}`;
}

/** False for days such as February 30, which `Date` takes for March 2. */
function isDay(day: string): boolean {
  const utc = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(utc.getTime()) && utc.toISOString().startsWith(day);
}

function startOfDay(day: string): Date {
  return new Date(`${day}T00:00:00`);
}
