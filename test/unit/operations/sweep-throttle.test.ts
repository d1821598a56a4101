import { expect, it, onTestFinished, vi } from 'vitest';
import { SweepThrottle } from '../../../src/operations/housekeeping/sweep-throttle.ts';

it('rests long after little work of the process, and not after waiting', async () => {
  let active = 0;
  const utilization = vi
    .spyOn(performance, 'eventLoopUtilization')
    .mockImplementation(() => ({ active, idle: 0, utilization: 0 }));
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => {
    utilization.mockRestore();
    now.mockRestore();
  });
  const wait = vi.fn(async () => undefined as never);
  const throttle = new SweepThrottle(undefined, { wait });
  now.mockReturnValue(10_000);
  await throttle.pause();
  expect(wait).not.toHaveBeenCalled();
  active = 6;
  await throttle.pause();
  await throttle.pause();
  expect(wait).toHaveBeenCalledExactlyOnceWith(45, undefined, {});
});
