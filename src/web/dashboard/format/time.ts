import { isEnglish, locale } from '../state/texts.ts';

const minuteSeconds = 60;
const steps = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', minuteSeconds],
  ['second', 1],
] as const;

/** @param time ATOM text or milliseconds */
export function formatDateTime(time: string | number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(time),
  );
}

/** Formats a time within the next minutes. */
export function formatClock(time: string | number): string {
  return new Intl.DateTimeFormat(locale(), { timeStyle: 'medium' }).format(new Date(time));
}

export function formatDate(time: string | number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium' }).format(new Date(time));
}

export function formatUtcDay(time: string | number): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(time));
}

/** Rounds times to come, so that seven days are not "in 6 days" at once. */
export function formatRelative(time: string | number, nowMs = Date.now()): string {
  const seconds = (new Date(time).getTime() - nowMs) / 1000;
  const [unit, size] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? steps.at(-1)!;
  const formatter = new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' });
  return formatter.format(seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size), unit);
}

export function formatSpan(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return inUnit(whole, 'second');
  if (whole < 3_600) return inUnit(Math.floor(whole / 60), 'minute');
  const [large, small] = whole < 86_400 ? (['hour', 'minute'] as const) : (['day', 'hour'] as const);
  const rest = Math.floor((whole % secondsOf[large]) / secondsOf[small]);
  const first = inUnit(Math.floor(whole / secondsOf[large]), large);
  return rest === 0 ? first : `${first} ${inUnit(rest, small)}`;
}

const secondsOf = { second: 1, minute: minuteSeconds, hour: 3_600, day: 86_400 } as const;
const englishUnits = { second: 's', minute: 'min', hour: 'h', day: 'd' } as const;

function inUnit(value: number, unit: keyof typeof englishUnits): string {
  if (isEnglish()) return `${value} ${englishUnits[unit]}`;
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'narrow' }).format(value);
}
