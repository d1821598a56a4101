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

test('dates follow the media while it arrives in time', () => {
  expect(dated([0, 2.1, 4, 6.3])).toEqual({ at: [0, 2, 4, 6], late: [] });
});

test('media that is faster than real time is dated by its arrival', () => {
  expect(dated([0, 1, 2, 3])).toEqual({ at: [0, 1, 2, 3], late: [] });
});

test('media that was held up, and arrives all at once, is not dated in the future', () => {
  expect(dated([0, 2, 9, 8.9993, 8.9996, 10])).toEqual({ at: [0, 2, 9, 9, 9, 10], late: [2] });
});

test('lost time is reported, and dates catch up', () => {
  expect(dated([0, 2, 14, 16])).toEqual({ at: [0, 2, 14, 16], late: [2] });
});

test('dates follow the media while the clock is set back, and none occurs twice', () => {
  expect(dated([0, 2, -3596, -3594, -3592])).toEqual({ at: [0, 2, 4, 6, 8], late: [] });
});

test('a clock that is set back and corrected does not change dates', () => {
  expect(dated([0, 2, -600, -598, 8.1, 10])).toEqual({ at: [0, 2, 4, 6, 8, 10], late: [] });
});
