import { describe, expect, test } from 'vitest';
import { type Component, Lifecycle } from '../../../src/shared/lifecycle.ts';
import { silentLogger } from '../../../src/shared/logger.ts';

/** Components that write down what is asked of them. */
function recorded(names: readonly string[], faults: Partial<Record<string, string>> = {}) {
  const done: string[] = [];
  const components = names.map((name): Component => {
    const act = async (what: string) => {
      done.push(`${what} ${name}`);
      if (faults[name] === what) throw new Error(`${name} cannot ${what}`);
    };
    return { name, start: () => act('start'), drain: () => act('drain'), stop: () => act('stop') };
  });
  return { done, lifecycle: new Lifecycle(components, silentLogger) };
}

const soon = () => Date.now() + 60_000;

test('starts in order; drains all and then stops all in the opposite one', async () => {
  const { done, lifecycle } = recorded(['a', 'b', 'c']);
  await lifecycle.start();
  await lifecycle.drain(soon());
  await lifecycle.stop();
  expect(done).toEqual([
    'start a',
    'start b',
    'start c',
    'drain c',
    'drain b',
    'drain a',
    'stop c',
    'stop b',
    'stop a',
  ]);
});

test('a start that fails is unwound, the failing one too, and its error passed on', async () => {
  const { done, lifecycle } = recorded(['a', 'b', 'c'], { b: 'start' });
  await expect(lifecycle.start()).rejects.toThrow('b cannot start');
  expect(done).toEqual(['start a', 'start b', 'stop b', 'stop a']);
});

test('a start that is given up starts nothing further and unwinds', async () => {
  const { done, lifecycle } = recorded(['a']);
  await expect(lifecycle.start(AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
  expect(done).toEqual([]);
});

test('one that fails to drain or stop does not keep the others from it', async () => {
  const { done, lifecycle } = recorded(['a', 'b', 'c'], { b: 'drain', c: 'stop' });
  await lifecycle.start();
  await lifecycle.drain(soon());
  await lifecycle.stop();
  expect(done.slice(3)).toEqual(['drain c', 'drain b', 'drain a', 'stop c', 'stop b', 'stop a']);
});

test('stopping twice is stopping once', async () => {
  const { done, lifecycle } = recorded(['a']);
  await lifecycle.start();
  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  await lifecycle.stop();
  expect(done).toEqual(['start a', 'stop a']);
});

describe('a component whose drain never ends', () => {
  const stuck = (): Lifecycle =>
    new Lifecycle(
      [{ name: 'stuck', start: async () => {}, drain: () => new Promise(() => {}), stop: async () => {} }],
      silentLogger,
    );

  test('is given up at the deadline', async () => {
    const lifecycle = stuck();
    await lifecycle.start();
    await lifecycle.drain(Date.now() - 1);
  });

  test('is given up at once when told to hurry', async () => {
    const lifecycle = stuck();
    await lifecycle.start();
    const hurry = new AbortController();
    const drained = lifecycle.drain(soon(), hurry.signal);
    hurry.abort();
    await drained;
  });
});
