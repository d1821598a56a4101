const minute = 60;
const hour = 3_600;
const day = 86_400;

/** Distances of the lines of a scale of things that come whole. */
export const wholeSteps: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap(power =>
  [1, 2, 5].map(digit => digit * 10 ** power),
);

/** Distances of the lines of a scale of spans, in seconds. */
export const spanSteps: readonly number[] = [
  ...[1, 2, 5, 10, 30, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 5 * day, 10 * day, 50 * day, 100 * day, 500 * day],
];

/** Distances of the marks of a time axis on which each point is a day, in seconds. */
export const daySteps: readonly number[] = [day, 2 * day, 3 * day, 7 * day, 14 * day];

/**
 * Words at a time axis, in the viewer's language: days where the marks are days apart or a day begins, else the time of day.
 *
 * @param times seconds since 1970
 * @param stepSeconds distance of the marks
 * @param areDays whether they stand for days of UTC; else they are told in the viewer's time zone
 */
export function timeLabels(times: readonly number[], stepSeconds: number, areDays: boolean): string[] {
  const days = new Intl.DateTimeFormat(undefined, {
    ...{ day: 'numeric', month: 'short' },
    ...(areDays ? { timeZone: 'UTC' } : {}),
  });
  const clock = new Intl.DateTimeFormat(undefined, {
    ...{ hour: 'numeric', minute: '2-digit' },
    ...(stepSeconds < minute ? { second: '2-digit' } : {}),
  });
  return times.map(time => {
    const at = new Date(time * 1000);
    const isDay =
      areDays || stepSeconds >= day || (stepSeconds >= hour && at.getHours() + at.getMinutes() === 0);
    return (isDay ? days : clock).format(at);
  });
}
