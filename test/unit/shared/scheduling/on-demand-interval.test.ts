import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OnDemandInterval } from '../../../../src/shared/scheduling/on-demand-interval.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('it ticks from the first wake on, until there is nothing to watch, and again after the next wake', () => {
  let watched = 2;
  const tick = vi.fn(() => {
    watched -= 1;
    return watched > 0;
  });
  const interval = new OnDemandInterval(1_000, tick);
  expect(vi.getTimerCount()).toBe(0);
  interval.wake();
  interval.wake();
  vi.advanceTimersByTime(10_000);
  expect(tick).toHaveBeenCalledTimes(2);
  expect(vi.getTimerCount()).toBe(0);
  interval.wake();
  vi.advanceTimersByTime(10_000);
  expect(tick).toHaveBeenCalledTimes(3);
});

test('nothing wakes it once it is stopped', () => {
  const interval = new OnDemandInterval(1_000, () => true);
  interval.wake();
  interval.stop();
  interval.wake();
  expect(vi.getTimerCount()).toBe(0);
});
