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

test('what a frame shows for seconds arrives as much later', () => {
  const log = new ArrivalLog();
  log.add(0, 5000);
  expect(log.arrivalOf(1000)).toBe(5000);
  expect(log.arrivalOf(10_000)).toBe(15_000);
});

test('media was recorded before the fastest arrival of what follows it', () => {
  const log = new ArrivalLog();
  expect(log.recordedBy(0)).toBe(Number.POSITIVE_INFINITY);
  log.add(0, 5000);
  log.add(2000, 5010);
  log.add(4000, 7100);
  expect(log.recordedBy(0)).toBe(3010);
  expect(log.recordedBy(2000)).toBe(5010);
  expect(log.recordedBy(3000)).toBe(6100);
  // Packagers move frames onto the grid of their rate.
  expect(log.recordedBy(4003)).toBe(7100);
  expect(log.recordedBy(4010)).toBe(Number.POSITIVE_INFINITY);
  for (let index = 0; index < 300; index += 1) log.add(10_000 + index, 20_000);
  expect(log.recordedBy(0)).toBe(20_000 - 10_299);
});

test('a frame is slow when the next one is seconds later', () => {
  const log = new ArrivalLog();
  for (const atMs of [0, 40, 80, 2080, 4080]) log.add(atMs, 5000);
  expect([0, 40, 78, 80, 2080, 4080].map(atMs => log.isSlowAt(atMs))).toEqual([
    false,
    false,
    true,
    true,
    true,
    false,
  ]);
});
