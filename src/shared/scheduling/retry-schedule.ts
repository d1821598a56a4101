export interface RetrySchedule {
  /** Delays before the second attempt, the third, ...; the last one repeats. */
  readonly delaysMs: readonly number[];
  /** Random factors, so that what failed together is not retried together. */
  readonly jitter: { readonly min: number; readonly max: number };
  /** Number of first delays without jitter. */
  readonly exactDelays?: number;
}

/** @param attempts made so far, at least 1 */
export function retryDelayMs(schedule: RetrySchedule, attempts: number, random = Math.random()): number {
  const { delaysMs, jitter, exactDelays = 0 } = schedule;
  const delayMs = delaysMs[Math.min(attempts, delaysMs.length) - 1]!;
  if (attempts <= exactDelays) return delayMs;
  return Math.round(delayMs * (jitter.min + random * (jitter.max - jitter.min)));
}

export function doublingDelaysMs(firstMs: number, maxMs: number): number[] {
  const delaysMs: number[] = [];
  for (let delayMs = firstMs; delayMs < maxMs; delayMs *= 2) delaysMs.push(delayMs);
  return [...delaysMs, maxMs];
}
