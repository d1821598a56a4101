import { yieldToEventLoop } from '../shared/scheduling/yield-to-event-loop.ts';

const rowsPerBatch = 200;

/**
 * Removes rows of which there may be many, a few at a time, with turns for others in between.
 *
 * @param removeSome removes as many as it is told, or fewer when that was all; gives back how many
 * @returns how many rows went
 */
export async function removeInBatches(removeSome: (atMost: number) => number): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = removeSome(rowsPerBatch);
    removed += count;
    if (count < rowsPerBatch) return removed;
    await yieldToEventLoop();
  }
}
