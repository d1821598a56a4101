import { expect, test } from 'vitest';
import { ArrivalLog } from '../../../../src/live/broadcast/arrival-log.ts';

test('returns the arrival time of a frame, or of the one before it', () => {
  const log = new ArrivalLog();
  log.add(0, 1000);
  log.add(40, 1041);
  log.add(80, 1079);
  expect(log.arrivalOf(40)).toBe(1041);
  // Packagers move frames onto the grid of their rate.
  expect(log.arrivalOf(77)).toBe(1079);
  expect(log.arrivalOf(60)).toBe(1041);
  expect(log.arrivalOf(500)).toBe(1079);
  expect(log.arrivalOf(-5)).toBeUndefined();
});

test('remembers the last 256 frames', () => {
  const log = new ArrivalLog();
  for (let index = 0; index < 1000; index += 1) log.add(index, index);
  expect(log.arrivalOf(999)).toBe(999);
  expect(log.arrivalOf(744)).toBe(744);
  expect(log.arrivalOf(740)).toBe(744);
});
