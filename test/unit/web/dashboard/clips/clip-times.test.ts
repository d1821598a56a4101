import { expect, test } from 'vitest';
import {
  clipFaults,
  typedTime,
  typeTime,
  withEnd,
  withStart,
} from '../../../../../src/web/dashboard/pages/clips/clip-times.ts';

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

test('a typed time that is wrong is a fault of its field', () => {
  const draft = { start: 2, end: 5 };
  const faults = (edge: 'start' | 'end', text: string) => clipFaults(typeTime(draft, edge, text), 10, String);
  expect(faults('start', '3')).toEqual({});
  expect(faults('start', '3:')).toEqual({ start: 'Enter a time such as 1:05.5.' });
  expect(faults('end', '')).toEqual({ end: 'Enter a time such as 1:05.5.' });
  expect(faults('end', '11')).toEqual({ end: 'The video ends at 10.' });
  expect(faults('start', '7')).toEqual({ start: 'The clip must start before it ends.' });
  expect(faults('end', '1')).toEqual({ end: 'The clip must end after it starts.' });
  expect(faults('end', '2.5')).toEqual({ end: 'A clip is at least 1 second long.' });
  // The other field keeps what was typed, until a handle moves.
  const both = typeTime(typeTime(draft, 'start', 'x'), 'end', '6');
  expect(both).toMatchObject({ start: 2, end: 6, typed: { start: 'x', end: '6' } });
});
