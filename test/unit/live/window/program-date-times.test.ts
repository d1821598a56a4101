import { expect, test } from 'vitest';
import { ProgramDateTimes } from '../../../../src/live/window/program-date-times.ts';

const startMs = Date.UTC(2026, 0, 1);

/** Dates of segments of two seconds that come in as the clock says, in seconds after its first reading. */
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

test('dates follow the media while it comes in time', () => {
  expect(dated([0, 2.1, 4, 6.3])).toEqual({ at: [0, 2, 4, 6], late: [] });
});

test('media that comes faster than time passes is dated when it comes', () => {
  expect(dated([0, 1, 2, 3])).toEqual({ at: [0, 1, 2, 3], late: [] });
});

test('time that was lost is said, and made up for', () => {
  expect(dated([0, 2, 14, 16])).toEqual({ at: [0, 2, 14, 16], late: [2] });
});

test('a clock that is set back stops no dates: they go on with the media, and no two are the same', () => {
  expect(dated([0, 2, -3596, -3594, -3592])).toEqual({ at: [0, 2, 4, 6, 8], late: [] });
});

test('a clock that is set back and right again leaves dates as they are', () => {
  expect(dated([0, 2, -600, -598, 8.1, 10])).toEqual({ at: [0, 2, 4, 6, 8, 10], late: [] });
});
