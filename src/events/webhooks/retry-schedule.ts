const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long to wait after the first failed try, the second, ...; the last holds for all that follow. */
export const webhookRetryDelaysMs: readonly number[] = [
  3 * second,
  3 * second,
  3 * second,
  10 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  hour,
  2 * hour,
  3 * hour,
];
/** The quick ones are as the contract has them. Longer waits are stretched by up to this much, so that what failed together is not tried together. */
const jitter = 0.2;
const quickTries = 3;
/** The last try is made so long after the first. */
export const retriedForMs = 24 * hour;

/**
 * When a delivery is tried again.
 *
 * @param attempts tries that were made, the failed one included
 * @param random 0..1
 * @returns undefined when it is given up
 */
export function retryAtMs(
  attempts: number,
  times: { readonly firstAttemptAtMs: number; readonly nowMs: number },
  random: number,
): number | undefined {
  const endMs = times.firstAttemptAtMs + retriedForMs;
  if (times.nowMs >= endMs) return undefined;
  const delayMs = webhookRetryDelaysMs[Math.min(attempts, webhookRetryDelaysMs.length) - 1]!;
  const stretch = attempts <= quickTries ? 1 : 1 + random * jitter;
  return Math.min(endMs, times.nowMs + Math.round(delayMs * stretch));
}
