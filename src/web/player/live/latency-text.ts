export function formatLatency(seconds: number): string {
  if (seconds < 0.05) return '< 0.1 s';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  return `${Math.max(1, Math.floor(seconds / 60))} min`;
}
