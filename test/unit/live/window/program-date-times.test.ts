import { expect, test } from 'vitest';
import { ProgramDateTimes } from '../../../../src/live/window/program-date-times.ts';
import { Random } from '../../../support/random.ts';

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
  expect(dated([0, 1.1, 2.2, 3.3])).toEqual({ at: [-0.25, 1.1, 2.2, 3.3], late: [] });
});

test('media that was held up, and arrives all at once, keeps its dates', () => {
  const at = [-0.25, 1.85, 3.95, 6, 8.001, 10.002, 12];
  expect(dated([0, 2, 11, 11, 11, 11, 12])).toEqual({ at, late: [] });
});

test('media far ahead of time is set back by less than a second at a time', () => {
  expect(dated([0, 0.1, 0.2, 0.3, 2.3, 4.3, 6.3, 8.3]).at).toEqual([
    -0.25, 0.76, 1.77, 2.78, 3.79, 4.8, 6.3, 8.3,
  ]);
});

test('a clock that is set back while dates are ahead of it does not set them back', () => {
  expect(dated([0, 0.1, 0.2, -600, -598, 10]).at).toEqual([-0.25, 0.76, 1.77, 3.77, 5.77, 7.771]);
});

test.each([0.2, 2, 10])('no date of %d s media goes back by a second, however it arrives', mediaSeconds => {
  const numbers = new Random(1);
  const random = () => numbers.below(1000) / 1000;
  for (let run = 0; run < 100; run += 1) {
    const dates = new ProgramDateTimes();
    let arrivedMs = startMs;
    let beforeMs = 0;
    for (let index = 0; index < 60; index += 1) {
      arrivedMs += 3000 * mediaSeconds * random() ** 3;
      const { date } = dates.dateOf(index * mediaSeconds * 1000, arrivedMs, arrivedMs - 9000 * random() ** 3);
      if (index > 0) expect(date).toBeGreaterThan(beforeMs + Math.max(0, mediaSeconds * 1000 - 1000));
      beforeMs = date;
    }
  }
});

test('a first segment that waited for the second one is dated by that', () => {
  const dates = new ProgramDateTimes();
  const given = [
    dates.dateOf(0, startMs + 10, startMs - 5000),
    dates.dateOf(5000, startMs + 10),
    dates.dateOf(10_000, startMs + 5000),
  ];
  expect(given.map(({ date }) => (date - startMs) / 1000)).toEqual([-6, -0.8, 4.4]);
});

test('a first segment that hardly waited is dated by its arrival', () => {
  const dates = new ProgramDateTimes();
  expect(dates.dateOf(0, startMs, startMs - 999).date - startMs).toBe(-250);
});

test('time that stays lost is reported, and dates catch up', () => {
  expect(dated([0, 2, 14, 16, 18])).toEqual({ at: [-0.25, 1.85, 3.95, 15.75, 17.85], late: [3] });
});

test('dates follow the media while the clock is set back, and none occurs twice', () => {
  expect(dated([0, 2, -3596, -3594, -3592])).toEqual({ at: [-0.25, 1.85, 3.85, 5.85, 7.85], late: [] });
});

test('a clock that is set back and corrected does not change dates', () => {
  expect(dated([0, 2, -600, -598, 8.1, 10])).toEqual({ at: [-0.25, 1.85, 3.85, 5.85, 7.95, 10], late: [] });
});
