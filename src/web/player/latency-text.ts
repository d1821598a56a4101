/** A latency as the player shows it: `1.4 s behind`; above ten seconds without decimals, above a minute in minutes. */
export function formatLatency(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s behind`;
  if (seconds < 60) return `${Math.round(seconds)} s behind`;
  return `${Math.floor(seconds / 60)} min behind`;
}
