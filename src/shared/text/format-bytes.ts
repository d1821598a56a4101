/** Formats decimal units: `3.1 GB`. */
export function formatBytes(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ['GB', bytes / 1e9] : ['MB', bytes / 1e6];
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${unit}`;
}
