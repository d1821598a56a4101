export function formatLatency(seconds: number): string {
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  return `${Math.max(1, Math.floor(seconds / 60))} min`;
}
