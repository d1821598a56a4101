import { expect, test } from 'vitest';
import { typedTime, withEnd, withStart } from '../../../../../src/web/dashboard/pages/clips/clip-times.ts';

test('the start moves the end along, and leaves a second before the end of the video', () => {
  expect(withStart({ start: 0, end: 5 }, 2, 10)).toEqual({ start: 2, end: 5 });
  expect(withStart({ start: 0, end: 5 }, 4.5, 10)).toEqual({ start: 4.5, end: 5.5 });
  expect(withStart({ start: 0, end: 5 }, 99, 10)).toEqual({ start: 9, end: 10 });
  expect(withStart({ start: 3, end: 5 }, -1, 10)).toEqual({ start: 0, end: 5 });
});

test('the end moves the start along, and stays in the video', () => {
  expect(withEnd({ start: 2, end: 5 }, 8, 10)).toEqual({ start: 2, end: 8 });
  expect(withEnd({ start: 4, end: 5 }, 2.5, 10)).toEqual({ start: 1.5, end: 2.5 });
  expect(withEnd({ start: 4, end: 5 }, 0, 10)).toEqual({ start: 0, end: 1 });
  expect(withEnd({ start: 4, end: 5 }, 99, 10)).toEqual({ start: 4, end: 10 });
  expect(withEnd({ start: 0, end: 0.5 }, 0.2, 0.5)).toEqual({ start: 0, end: 0.5 });
});

test('an empty or unfinished time is none', () => {
  expect(typedTime(' ')).toBeUndefined();
  expect(typedTime('1:')).toBeUndefined();
  expect(typedTime('1:02.5')).toBe(62.5);
});
