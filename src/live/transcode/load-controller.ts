import { LagMonitor } from './lag-monitor.ts';

const maxFrameDivisor = 8;
/** Half of the dropped frames return after so long without lag. Doubles when that was too early. */
const initialRecoveryMs = 60_000;
const maxRecoveryMs = 10 * 60_000;
/** Lag at which a source that can wait should. */
const backlogMs = 6000;
export const acceptableLagMs = 2000;

/** Reduces an encoder's frame rate by its lag. */
export class LoadController {
  frameDivisor = 1;
  readonly #lag = new LagMonitor();
  #recoveryMs = initialRecoveryMs;
  #hasRecovered = false;
  #healthySinceMs: number | undefined;
  #isBacklogged = false;

  get isBacklogged(): boolean {
    return this.#isBacklogged;
  }

  restart(): void {
    this.#lag.restart();
  }

  /** @returns true when a backlog was cleared */
  updateBacklog(lagMs: number): boolean {
    const wasBacklogged = this.#isBacklogged;
    if (lagMs > backlogMs) this.#isBacklogged = true;
    else if (lagMs < acceptableLagMs) this.#isBacklogged = false;
    return wasBacklogged && !this.#isBacklogged;
  }

  isTooSlow(nowMs: number, lagMs: number): boolean {
    return this.#lag.observe(nowMs, lagMs) !== 'fine';
  }

  increasedDivisor(): number | undefined {
    if (this.frameDivisor >= maxFrameDivisor) return undefined;
    if (this.#hasRecovered) this.#recoveryMs = Math.min(2 * this.#recoveryMs, maxRecoveryMs);
    this.#hasRecovered = false;
    this.#healthySinceMs = undefined;
    return this.frameDivisor * 2;
  }

  /** Drops fewer frames, once the encoder has kept up for long enough. */
  decreasedDivisor(nowMs: number, lagMs: number): number | undefined {
    if (this.frameDivisor === 1) return undefined;
    if (lagMs > acceptableLagMs) this.#healthySinceMs = undefined;
    else this.#healthySinceMs ??= nowMs;
    if (this.#healthySinceMs === undefined || nowMs - this.#healthySinceMs < this.#recoveryMs)
      return undefined;
    this.#hasRecovered = true;
    this.#healthySinceMs = undefined;
    return this.frameDivisor / 2;
  }
}
