import { setImmediate as nextTurn } from 'node:timers/promises';

const turnMs = 5;
const readMs = 3;

/**
 * Reads a range in pieces, so that others have their turn in between. How long the pieces are follows from how long they take.
 *
 * @param step pieces are whole multiples of it
 */
export async function readInTurns(
  range: { readonly from: number; readonly to: number; readonly step: number },
  read: (from: number, to: number) => void,
): Promise<void> {
  let length = range.step;
  let turnBeganAt = performance.now();
  for (let from = range.from; from < range.to; ) {
    const to = Math.min(range.to, from + length);
    const beganAt = performance.now();
    read(from, to);
    const endedAt = performance.now();
    from = to;
    const tookMs = endedAt - beganAt;
    if (tookMs < readMs / 2) length *= 2;
    else if (tookMs > readMs) length = Math.max(range.step, Math.floor(length / 2 / range.step) * range.step);
    if (endedAt - turnBeganAt < turnMs) continue;
    await nextTurn();
    turnBeganAt = performance.now();
  }
}
