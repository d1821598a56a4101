/** Where a part gets its time from, so that tests can hand in another. */
export interface Clock {
  /** Milliseconds since 1970, UTC. May step when the machine's clock is set. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. For measuring durations. */
  monotonicMs(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** ATOM date of the API: UTC, whole seconds, numeric offset: `2026-03-04T05:06:07+00:00`. */
export function formatAtom(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}+00:00`;
}
