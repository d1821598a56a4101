import { expect, test } from 'vitest';
import { sparklinePaths } from '../../../../../../src/web/dashboard/ui/chart/sparkline-paths.ts';

test('fills the width, from 0 to the highest value', () => {
  expect(sparklinePaths([0, 5, 10], 1)).toEqual({
    line: 'M0 31L50 16.5L100 2',
    area: 'M0 31L0 31L50 16.5L100 2L100 31z',
    partial: '',
  });
});

test('breaks where nothing is known, and does not magnify small values', () => {
  expect(sparklinePaths([1, null, 1], 2).line).toBe('M0 16.5M100 16.5');
  expect(sparklinePaths([], 1)).toEqual({ line: '', area: '', partial: '' });
  expect(sparklinePaths([null], 1).line).toBe('');
});

test('keeps the way to the value of a period that is not over apart', () => {
  expect(sparklinePaths([0, 10, 5], 1, true)).toMatchObject({
    line: 'M0 31L50 2',
    partial: 'M50 2L100 16.5',
  });
  expect(sparklinePaths([5], 1, true)).toMatchObject({ line: 'M0 2', partial: '' });
});
