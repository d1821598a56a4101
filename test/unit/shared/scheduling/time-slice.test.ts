import { expect, it } from 'vitest';
import { TimeSlice } from '../../../../src/shared/scheduling/time-slice.ts';
import { yieldToEventLoop } from '../../../../src/shared/scheduling/yield-to-event-loop.ts';

it('resumes one computation per iteration of the event loop', async () => {
  const seen: string[] = [];
  const compute = async (name: string) => {
    for (let step = 0; step < 3; step += 1) {
      await yieldToEventLoop();
      seen.push(name);
    }
  };
  let isOver = false;
  const iterations = () => {
    seen.push('-');
    if (!isOver) setImmediate(iterations);
  };
  const computations = Promise.all([compute('a'), compute('b')]);
  setImmediate(iterations);
  await computations;
  isOver = true;
  expect(seen.join('')).toBe('a-b-a-b-a-b');
});

it('ends a computation whose signal was aborted', async () => {
  const abort = new AbortController();
  const slice = new TimeSlice(0, abort.signal);
  await slice.yieldIfOver();
  abort.abort(new Error('not wanted'));
  await expect(slice.next()).rejects.toThrow('not wanted');
});
