import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CoalescedTask } from '../../../../src/shared/scheduling/coalesced-task.ts';

function heldTask() {
  const runs: (() => void)[] = [];
  let maxRunning = 0;
  let running = 0;
  const task = new CoalescedTask(async () => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    await new Promise<void>(resolve => runs.push(resolve));
    running -= 1;
  });
  return { task, runs, maxRunning: () => maxRunning };
}

it('runs once for many requests, and once more for those that come meanwhile', async () => {
  const { task, runs, maxRunning } = heldTask();
  for (let count = 0; count < 3; count += 1) task.request();
  expect(runs).toHaveLength(0);
  await nextTurn();
  expect(runs).toHaveLength(1);
  for (let count = 0; count < 3; count += 1) task.request();
  await nextTurn();
  expect(runs).toHaveLength(1);
  runs[0]!();
  await task.idle();
  await nextTurn();
  expect(runs).toHaveLength(2);
  runs[1]!();
  await task.idle();
  await nextTurn();
  expect([runs.length, maxRunning()]).toEqual([2, 1]);
});

it('forgets requests, and waits for the current run', async () => {
  const { task, runs } = heldTask();
  task.request();
  task.cancel();
  await nextTurn();
  expect(runs).toHaveLength(0);
  task.request();
  await nextTurn();
  task.request();
  task.cancel();
  let isIdle = false;
  const idle = task.idle().then(() => {
    isIdle = true;
  });
  await nextTurn();
  expect(isIdle).toBe(false);
  runs[0]!();
  await idle;
  await nextTurn();
  expect(runs).toHaveLength(1);
});
