/** Seconds whose fastest arrivals are compared. A lasting delay is the usual one afterwards. */
const keptSeconds = 120;
/** A delay that ends within this is a burst. */
const recentSeconds = 5;
/** OBS sends its first seconds sooner than all others, most of all when it encodes on a busy machine. */
const settlingMs = 10_000;

/** Measures how much later than usual media arrives, by its timestamps. Allocates nothing per tag. */
export class ArrivalLateness {
  readonly #shortestMs = new Float64Array(keptSeconds);
  #first: { readonly timestampMs: number; readonly nowMs: number } | undefined;
  #newestSecond = 0;
  #count = 0;

  restart(): void {
    this.#first = undefined;
    this.#count = 0;
  }

  /** @param timestampMs as sent, 0..2^32-1 @param nowMs monotonic */
  arrived(timestampMs: number, nowMs: number): void {
    this.#first ??= { timestampMs, nowMs };
    this.#advance(nowMs);
    if (nowMs - this.#first.nowMs < settlingMs) return;
    // A signed 32-bit difference is right across the wrap at 2^32.
    const delayMs = nowMs - this.#first.nowMs - ((timestampMs - this.#first.timestampMs) | 0);
    const slot = this.#newestSecond % keptSeconds;
    this.#shortestMs[slot] = Math.min(this.#shortestMs[slot]!, delayMs);
  }

  /** Shortest delay of the last seconds, above that of two minutes; 0 while nothing is known. */
  lateMs(nowMs: number): number {
    if (this.#first === undefined) return 0;
    this.#advance(nowMs);
    const recentMs = this.#shortestOf(recentSeconds);
    return Number.isFinite(recentMs) ? recentMs - this.#shortestOf(keptSeconds) : 0;
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const isFirst = this.#count === 0;
    const steps = isFirst ? 1 : Math.min(second - this.#newestSecond, keptSeconds);
    for (let step = 0; step < steps; step += 1) {
      this.#shortestMs[(second - step) % keptSeconds] = Number.POSITIVE_INFINITY;
    }
    this.#count = Math.min(this.#count + Math.max(0, steps), keptSeconds);
    this.#newestSecond = Math.max(second, isFirst ? second : this.#newestSecond);
  }

  #shortestOf(seconds: number): number {
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let back = 0; back < Math.min(seconds, this.#count); back += 1) {
      shortestMs = Math.min(
        shortestMs,
        this.#shortestMs[(this.#newestSecond - back + keptSeconds) % keptSeconds]!,
      );
    }
    return shortestMs;
  }
}
