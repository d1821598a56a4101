/** How an encoder keeps up; `slow` and `late` ask for less work. */
export type LagLevel = 'fine' | 'slow' | 'late';

/** Encoding that takes longer than the media lasts, for so long, is too slow. */
const slowForMs = 10_000;
/** In that time the lag grows by this much at least: a speed of 0.95. */
const growthMs = 500;
/** Less than this is no lag: pictures wait for each other a little. */
const usualMs = 1000;
/** More than this is too late for viewers, unless it becomes less. */
const lateMs = 4000;
const fallingForMs = 3000;
const fallMs = 300;

/**
 * Judges from its lag whether an encoder keeps up: media that it was given and has not given back, in milliseconds. A lag that only
 * stands is no reason, since nothing would make it less; one that grows is.
 */
export class LagMonitor {
  /** Of the last ten seconds, oldest first. */
  #seen: { readonly atMs: number; readonly lagMs: number }[] = [];

  /** Another encoder begins, with what is left to do. */
  restart(): void {
    this.#seen = [];
  }

  /**
   * @param nowMs monotonic
   * @param lagMs of the rung that is furthest behind
   */
  observe(nowMs: number, lagMs: number): LagLevel {
    this.#seen.push({ atMs: nowMs, lagMs });
    while (this.#seen[1] !== undefined && nowMs - this.#seen[1].atMs >= slowForMs) this.#seen.shift();
    const oldest = this.#seen[0]!;
    const hasSeenEnough = nowMs - oldest.atMs >= slowForMs;
    if (hasSeenEnough && lagMs > usualMs && lagMs - oldest.lagMs >= growthMs) return 'slow';
    if (lagMs <= lateMs) return 'fine';
    const before = this.#seen.findLast(({ atMs }) => nowMs - atMs >= fallingForMs);
    return before !== undefined && before.lagMs - lagMs < fallMs ? 'late' : 'fine';
  }
}
