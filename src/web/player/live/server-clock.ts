/**
 * The server's clock as seen from the page, so that a viewer's wrong clock does not spoil the latency readout.
 * It lags by the time that the first byte of the page took to arrive.
 */
export class ServerClock {
  readonly #aheadMs: number;

  /** `pageTimeMs`: the server's clock when it wrote the page. */
  constructor(pageTimeMs: number) {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const arrivedAtMs = performance.timeOrigin + (navigation?.responseStart ?? 0);
    // A page out of the back/forward cache or a saved file says nothing about the server's clock.
    const isUsable = Number.isFinite(pageTimeMs) && pageTimeMs > 0 && (navigation?.responseStart ?? 0) > 0;
    this.#aheadMs = isUsable ? pageTimeMs - arrivedAtMs : 0;
  }

  /** Milliseconds since 1970. */
  nowMs(): number {
    return performance.timeOrigin + performance.now() + this.#aheadMs;
  }
}
