import { expect, it } from 'vitest';
import { parseTimecode, timecodeSeconds } from '../../../../src/shared/text/timecode.ts';

it.each([
  ['00:00:00', 0, 0],
  ['01:02:03', 3_723, 0],
  ['100:00:00', 360_000, 0],
  ['00:15:22.05', 922.05, 0],
  ['00:15:22.000', 922, 0],
  ['00:00:01.5', 1.5, 0],
  ['00:00:10:12', 10, 12],
  ['0', 0, 0],
  ['75', 75, 0],
  ['9999999', 9_999_999, 0],
])('%s is read', (text, seconds, frames) => {
  expect(parseTimecode(text)).toEqual({ seconds, frames });
});

it.each([
  ...['', ' 1', '1 ', '-1', '1.5', '1:2', '0:00:01', '00:00', '00:00:1', '00:00:01.', '00:00:01.1234'],
  ...['00:00:01:', '00:00:01:123', '00:00:01.5:3', '00:00:01;05', '1e3', '12345678', 'last', '٠١', '1\n'],
])('%j is none', text => {
  expect(parseTimecode(text)).toBeUndefined();
});

it('counts frames by the rate of the film, if that is known', () => {
  expect(timecodeSeconds({ seconds: 10, frames: 12 }, 24)).toBe(10.5);
  expect(timecodeSeconds({ seconds: 10, frames: 12 }, undefined)).toBe(10);
  expect(timecodeSeconds({ seconds: 10, frames: 12 }, 0)).toBe(10);
});
