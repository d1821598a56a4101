/** Keeps a wrong clock of the viewer out of the latency. Lags by the time of the answer's first byte. */
export class ServerClock {
  readonly #aheadMs: number;

  /** @param arrivedAtMs when the server's time arrived, by the viewer's clock; 0 where that is unknown */
  constructor(serverTimeMs: number, arrivedAtMs: number) {
    const isUsable = Number.isFinite(serverTimeMs) && serverTimeMs > 0 && arrivedAtMs > 0;
    this.#aheadMs = isUsable ? serverTimeMs - arrivedAtMs : 0;
  }

  /** Clock of a page with the server's time. Cached and saved pages have no usable one. */
  static ofPage(serverTimeMs: number): ServerClock {
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    const responseStart = navigation?.responseStart ?? 0;
    return new ServerClock(serverTimeMs, responseStart > 0 ? performance.timeOrigin + responseStart : 0);
  }

  nowMs(): number {
    return performance.timeOrigin + performance.now() + this.#aheadMs;
  }
}
