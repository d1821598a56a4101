import { expect, test } from 'vitest';
import { ProgramDateTimes } from '../../../../src/live/window/program-date-times.ts';

const startMs = Date.UTC(2026, 0, 1);

/** Dates segments of two seconds that arrive at these clock times, in seconds after the first. */
function dated(clockSeconds: readonly number[], mediaSeconds = 2): { at: number[]; late: number[] } {
  const dates = new ProgramDateTimes();
  const given = clockSeconds.map((seconds, index) =>
    dates.dateOf(index * mediaSeconds * 1000, startMs + seconds * 1000),
  );
  return {
    at: given.map(({ date }) => (date - startMs) / 1000),
    late: given.flatMap(({ isLate }, index) => (isLate ? [index] : [])),
  };
}

test('dates begin before the arrival, and approach it in small steps', () => {
  expect(dated([0, 2.1, 4, 6.3, 8.1, 10])).toEqual({ at: [-0.25, 1.85, 3.95, 6, 8.001, 10], late: [] });
});

test('dates follow the media when its first segment was late, and are never in the future', () => {
  const { at } = dated([0, 1.6, 3.6, 5.6, 7.6]);
  expect(at).toEqual([-0.25, 1.6, 3.6, 5.6, 7.6]);
});

test('dates follow the clock, and not a connection that is slow for a while', () => {
  const dates = new ProgramDateTimes();
  // The clock is faster than the encoder's by 100 ppm.
  const arrivals = Array.from({ length: 60_000 }, (_, index) => {
    const isSlow = index % 1000 >= 970;
    return 2000.2 * index + (isSlow ? 900 : 0);
  });
  const given = arrivals.map((nowMs, index) => ({ nowMs, ...dates.dateOf(2000 * index, nowMs) }));
  expect(given.filter(({ isLate }) => isLate)).toEqual([]);
  expect(given.filter(({ date, nowMs }) => date > nowMs + 1)).toEqual([]);
  const steps = given.slice(1).map(({ date }, index) => date - given[index]!.date - 2000);
  expect(Math.max(...steps.map(Math.abs))).toBeLessThanOrEqual(100);
  expect(given.at(-31)!.nowMs - given.at(-31)!.date).toBeLessThanOrEqual(1);
});

test('media that is faster than real time is dated by its arrival', () => {
  expect(dated([0, 1, 2, 3])).toEqual({ at: [-0.25, 1, 2, 3], late: [] });
});

test('media that was held up, and arrives all at once, is not dated in the future', () => {
  expect(dated([0, 2, 9, 8.9993, 8.9996, 10])).toEqual({ at: [-0.25, 1.85, 8.75, 8.999, 9, 10], late: [2] });
});

test('lost time is reported, and dates catch up', () => {
  expect(dated([0, 2, 14, 16])).toEqual({ at: [-0.25, 1.85, 13.75, 15.85], late: [2] });
});

test('dates follow the media while the clock is set back, and none occurs twice', () => {
  expect(dated([0, 2, -3596, -3594, -3592])).toEqual({ at: [-0.25, 1.85, 3.85, 5.85, 7.85], late: [] });
});

test('a clock that is set back and corrected does not change dates', () => {
  expect(dated([0, 2, -600, -598, 8.1, 10])).toEqual({ at: [-0.25, 1.85, 3.85, 5.85, 7.95, 10], late: [] });
});
