export const dayMs = 86_400_000;

/** Whole days since 1970, UTC. */
export function dayOf(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** `YYYY-MM-DD`. */
export function formatDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
