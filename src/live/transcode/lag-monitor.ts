/** `slow` and `late` ask for less load. */
type LagLevel = 'fine' | 'slow' | 'late';

/** Encoding slower than real time for so long is too slow. */
const windowMs = 10_000;
/** Growth of the lag in the window: a speed of 0.95. */
const maxGrowthMs = 500;
const normalLagMs = 1000;
/** Lag that is too late for viewers, unless it decreases. */
const maxLagMs = 4000;
const decreaseWindowMs = 3000;
const minDecreaseMs = 300;

/** The lag is media time that was given and not returned. Less load reduces a growing lag, but not a constant one. */
export class LagMonitor {
  #observations: { readonly atMs: number; readonly lagMs: number }[] = [];

  restart(): void {
    this.#observations = [];
  }

  /** @param nowMs monotonic @param lagMs of the slowest rendition */
  observe(nowMs: number, lagMs: number): LagLevel {
    const seen = this.#observations;
    seen.push({ atMs: nowMs, lagMs });
    while (seen[1] !== undefined && nowMs - seen[1].atMs >= windowMs) seen.shift();
    const oldest = seen[0]!;
    const isWindowFull = nowMs - oldest.atMs >= windowMs;
    if (isWindowFull && lagMs > normalLagMs && lagMs - oldest.lagMs >= maxGrowthMs) return 'slow';
    if (lagMs <= maxLagMs) return 'fine';
    const before = seen.findLast(({ atMs }) => nowMs - atMs >= decreaseWindowMs);
    return before !== undefined && before.lagMs - lagMs < minDecreaseMs ? 'late' : 'fine';
  }
}
