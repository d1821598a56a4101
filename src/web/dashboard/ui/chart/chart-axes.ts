import { locale } from '../../state/texts.ts';

const minute = 60;
const hour = 3_600;
const day = 86_400;

export const wholeSteps: readonly number[] = powersOf(0, 9);

/** Seconds. */
export const spanSteps: readonly number[] = [
  ...[1, 2, 5, 10, 30, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 5 * day, 10 * day, 50 * day, 100 * day, 500 * day],
];

export const daySteps: readonly number[] = [day, 2 * day, 3 * day, 7 * day, 14 * day];

export const timeSteps: readonly number[] = [
  ...[1, 5, 10, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, ...daySteps],
];

const decimalSteps: readonly number[] = powersOf(-6, 18);

/** `days`: a time stands for the UTC day that it begins. */
export type ChartClock = 'local' | 'utc' | 'days';

/** Chooses as many round ticks with distinct labels as fit. `format` may round; `steps` ascend. */
export function valueTicks(
  [min, max]: readonly [min: number, max: number],
  format: (value: number) => string,
  maxCount: number,
  steps: readonly number[] = decimalSteps,
): number[] {
  for (const step of steps) {
    const first = Math.ceil(min / step);
    const last = Math.floor(max / step);
    if (last - first + 1 > Math.max(2, maxCount)) continue;
    // Adding 0.1 repeatedly would give 0.30000000000000004.
    const ticks = Array.from({ length: last - first + 1 }, (_, index) =>
      Number(((first + index) * step).toPrecision(12)),
    );
    if (new Set(ticks.map(tick => format(tick))).size === ticks.length) return ticks;
  }
  return [0];
}

/** Labels dates at days, else times of day, with weekdays if times repeat. `times` in seconds since 1970. */
export function timeLabels(times: readonly number[], stepSeconds: number, clock: ChartClock): string[] {
  const zone = zoneOf(clock);
  const days = new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', ...zone });
  const time: Intl.DateTimeFormatOptions = {
    hour: 'numeric',
    minute: '2-digit',
    ...zone,
    ...(stepSeconds < minute ? { second: '2-digit' } : {}),
  };
  const dayStart = new Intl.DateTimeFormat('en', {
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
    ...zone,
  });
  const areDays = times.map(
    at =>
      clock === 'days' ||
      stepSeconds >= day ||
      (stepSeconds >= hour && dayStart.format(new Date(at * 1000)) === '00:00'),
  );
  const labelsBy = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale(), options);
    return times.map((at, index) => (areDays[index] ? days : format).format(new Date(at * 1000)));
  };
  const labels = labelsBy(time);
  return new Set(labels).size === labels.length ? labels : labelsBy({ weekday: 'short', ...time });
}

/** Formats as precisely as the points are apart; a long span adds the date. All values in seconds. */
export function momentText(time: number, spanSeconds: number, clock: ChartClock): string {
  const date: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', year: 'numeric' };
  const options: Intl.DateTimeFormatOptions =
    clock === 'days'
      ? date
      : {
          ...(spanSeconds > day / 2 ? date : {}),
          hour: 'numeric',
          minute: '2-digit',
          ...(spanSeconds <= hour ? { second: '2-digit' } : {}),
        };
  return new Intl.DateTimeFormat(locale(), { ...options, ...zoneOf(clock) }).format(new Date(time * 1000));
}

function zoneOf(clock: ChartClock): Intl.DateTimeFormatOptions {
  return clock === 'local' ? {} : { timeZone: 'UTC' };
}

function powersOf(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => 10 ** (from + index)).flatMap(power => [
    power,
    2 * power,
    5 * power,
  ]);
}
