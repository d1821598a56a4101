export const dayMs = 86_400_000;

/** Returns the UTC day of an instant: whole days since 1970. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** Formats a day of {@link dayOf} as `YYYY-MM-DD`. */
export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
