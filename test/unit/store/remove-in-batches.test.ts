import { expect, it } from 'vitest';
import { removeInBatches } from '../../../src/store/remove-in-batches.ts';

it('removes all rows in batches that yield to the event loop', async () => {
  let left = 1_050;
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const removed = await removeInBatches(async limit => {
    const some = Math.min(left, limit, 200);
    left -= some;
    return some;
  });
  isDone = true;
  expect({ removed, left }).toEqual({ removed: 1_050, left: 0 });
  expect(turns).toBeGreaterThanOrEqual(5);
});
