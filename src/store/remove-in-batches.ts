import { yieldToEventLoop } from '../shared/scheduling/yield-to-event-loop.ts';

const rowsPerBatch = 200;

/** @param removeSome removes up to `limit` rows and returns their number; fewer end the removal */
export async function removeInBatches(removeSome: (limit: number) => Promise<number>): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await removeSome(rowsPerBatch);
    removed += count;
    if (count < rowsPerBatch) return removed;
    await yieldToEventLoop();
  }
}
