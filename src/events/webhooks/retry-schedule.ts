import { type RetrySchedule, retryDelayMs } from '../../shared/scheduling/retry-schedule.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const webhookRetries: RetrySchedule = {
  delaysMs: [
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
  ],
  jitter: { min: 1, max: 1.2 },
  // The contract fixes these.
  exactDelays: 3,
};
const retriedForMs = 24 * hour;

/** @param attempts includes the failed one @param random 0..1 @returns undefined after the last attempt */
export function retryAtMs(
  attempts: number,
  times: { readonly firstAttemptAtMs: number; readonly nowMs: number },
  random: number,
): number | undefined {
  const endMs = times.firstAttemptAtMs + retriedForMs;
  if (times.nowMs >= endMs) return undefined;
  return Math.min(endMs, times.nowMs + retryDelayMs(webhookRetries, attempts, random));
}
