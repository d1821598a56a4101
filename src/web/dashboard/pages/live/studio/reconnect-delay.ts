/** The time for which the server waits for a lost publisher by default. */
const maxLossMs = 60_000;
const delaysMs = [0, 1_000, 2_000, 3_000];
const maxDelayMs = 5_000;

/** Undefined when the broadcast has ended meanwhile. @param attempt from 0 */
export function reconnectDelayMs(attempt: number, sinceLossMs: number): number | undefined {
  return sinceLossMs >= maxLossMs ? undefined : (delaysMs[attempt] ?? maxDelayMs);
}
