/** Keeps a wrong clock of the viewer out of the latency. Lags by the time of the page's first byte. */
export class ServerClock {
  readonly #aheadMs: number;

  constructor(pageTimeMs: number) {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const arrivedAtMs = performance.timeOrigin + (navigation?.responseStart ?? 0);
    // Cached and saved pages have no usable time.
    const isUsable = Number.isFinite(pageTimeMs) && pageTimeMs > 0 && (navigation?.responseStart ?? 0) > 0;
    this.#aheadMs = isUsable ? pageTimeMs - arrivedAtMs : 0;
  }

  nowMs(): number {
    return performance.timeOrigin + performance.now() + this.#aheadMs;
  }
}
