/** Keeps a wrong clock of the viewer out of the latency. Lags by the time of the answer's first byte. */
export class ServerClock {
  readonly #aheadMs: number;

  /** @param arrivedAtMs when the server's time arrived, by the viewer's clock; 0 where that is unknown */
  constructor(serverTimeMs: number, arrivedAtMs: number) {
    const isUsable = Number.isFinite(serverTimeMs) && serverTimeMs > 0 && arrivedAtMs > 0;
    this.#aheadMs = isUsable ? serverTimeMs - arrivedAtMs : 0;
  }

  nowMs(): number {
    return performance.timeOrigin + performance.now() + this.#aheadMs;
  }
}
