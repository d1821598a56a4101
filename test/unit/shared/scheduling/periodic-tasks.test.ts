import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { type PeriodicTask, PeriodicTasks } from '../../../../src/shared/scheduling/periodic-tasks.ts';

const everyMs = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function make(...tasks: PeriodicTask[]): PeriodicTasks {
  return new PeriodicTasks({ name: 'chores', tasks, everyMs, log: silentLogger });
}

test('chores are done soon after the start, then at equal distances, in their order', async () => {
  const done: string[] = [];
  const named = (name: string) => ({ name, run: () => done.push(name) });
  const chores = make(named('a'), named('b'));
  await chores.start();
  await vi.advanceTimersByTimeAsync(1);
  expect(done).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(2 * everyMs);
  expect(done).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  await chores.stop();
});

test('one that fails keeps neither the others nor its own next time', async () => {
  const failing = vi.fn(() => Promise.reject(new Error('no')));
  const other = vi.fn(() => 0);
  const chores = make({ name: 'failing', run: failing }, { name: 'other', run: other });
  await chores.start();
  await vi.advanceTimersByTimeAsync(everyMs + 1);
  expect(failing).toHaveBeenCalledTimes(2);
  expect(other).toHaveBeenCalledTimes(2);
  await chores.stop();
});

test('one that takes long is not begun again meanwhile', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const slow = vi.fn(() => promise);
  const chores = make({ name: 'slow', run: slow });
  await chores.start();
  await vi.advanceTimersByTimeAsync(5 * everyMs);
  expect(slow).toHaveBeenCalledTimes(1);
  resolve(1);
  await vi.advanceTimersByTimeAsync(everyMs);
  expect(slow).toHaveBeenCalledTimes(2);
  await chores.stop();
});

test('a task keeps its own state', async () => {
  class Counting implements PeriodicTask {
    readonly name = 'counting';
    times = 0;
    run(): number {
      this.times += 1;
      return 0;
    }
  }
  const counting = new Counting();
  const chores = make(counting);
  await chores.start();
  await vi.advanceTimersByTimeAsync(1);
  expect(counting.times).toBe(1);
  await chores.stop();
});

test('a chore that runs hears of the stop', async () => {
  const chores = make({
    name: 'long',
    run: signal =>
      new Promise(resolve => {
        signal?.addEventListener('abort', () => resolve(0));
      }),
  });
  await chores.start();
  await vi.advanceTimersByTimeAsync(1);
  await chores.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('a stop waits for the chore that runs, begins no other, and sets no timer', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const next = vi.fn(() => 0);
  const chores = make({ name: 'slow', run: () => promise }, { name: 'next', run: next });
  await chores.start();
  await vi.advanceTimersByTimeAsync(1);
  let isStopped = false;
  const stopping = chores.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(everyMs);
  expect(isStopped).toBe(false);
  resolve(0);
  await stopping;
  expect(next).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('tasks of a leader lease run while this server holds it', async () => {
  const listeners: { take: () => void; leave: () => Promise<void> }[] = [];
  const task = vi.fn(() => 0);
  const chores = new PeriodicTasks({
    name: 'chores',
    tasks: [{ name: 'task', run: task }],
    everyMs,
    log: silentLogger,
    leaderLease: { on: listener => void listeners.push(listener) },
  });
  await chores.start();
  await vi.advanceTimersByTimeAsync(2 * everyMs);
  expect(task).not.toHaveBeenCalled();
  for (const times of [1, 2]) {
    listeners[0]!.take();
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(times);
    await listeners[0]!.leave();
    await vi.advanceTimersByTimeAsync(2 * everyMs);
    expect(task).toHaveBeenCalledTimes(times);
  }
  await chores.stop();
  listeners[0]!.take();
  await vi.advanceTimersByTimeAsync(everyMs);
  expect(task).toHaveBeenCalledTimes(2);
});
