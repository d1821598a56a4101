const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays after the first failed attempt, the second, ...; the last one repeats. */
const webhookRetryDelaysMs: readonly number[] = [
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
/**
 * Maximum relative extension of the delays after the first three, which the contract fixes; deliveries that failed together are
 * then retried apart.
 */
const jitter = 0.2;
const quickTries = 3;
/** Time from the first attempt to the last. */
const retriedForMs = 24 * hour;

/**
 * Returns the time of the next attempt.
 *
 * @param attempts attempts so far, including the failed one
 * @param random 0..1
 * @returns undefined when no further attempt is made
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
