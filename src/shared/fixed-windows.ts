import type { Clock } from './clock.ts';

interface CountingWindow {
  readonly endsAtMs: number;
  count: number;
}

/** Counts per key in windows of the same length. They begin with the first count of their key. Beyond `maxKeys`, drops the one that ends first. */
export class FixedWindows {
  readonly #windowMs: number;
  readonly #maxKeys: number;
  readonly #clock: Clock;
  /** Windows have the same length, so the first to end comes first. */
  readonly #windows = new Map<string, CountingWindow>();

  constructor(options: { windowMs: number; maxKeys: number; clock: Clock }) {
    this.#windowMs = options.windowMs;
    this.#maxKeys = options.maxKeys;
    this.#clock = options.clock;
  }

  /** Returns the key's window, or a new one that only {@link add} keeps. */
  get(key: string): CountingWindow {
    const nowMs = this.#clock.monotonicMs();
    const current = this.#windows.get(key);
    if (current !== undefined && nowMs < current.endsAtMs) return current;
    return { endsAtMs: nowMs + this.#windowMs, count: 0 };
  }

  /** Counts one, and returns false when the key's window has `max` already. */
  take(key: string, max: number): boolean {
    const window = this.get(key);
    if (window.count >= max) return false;
    this.add(key, window);
    return true;
  }

  add(key: string, window: CountingWindow, count = 1): void {
    window.count += count;
    if (this.#windows.get(key) === window) return;
    this.#windows.delete(key);
    this.#windows.set(key, window);
    const nowMs = this.#clock.monotonicMs();
    for (const [name, { endsAtMs }] of this.#windows) {
      if (endsAtMs > nowMs && this.#windows.size <= this.#maxKeys) break;
      this.#windows.delete(name);
    }
  }

  delete(key: string): void {
    this.#windows.delete(key);
  }

  secondsUntilEnd({ endsAtMs }: CountingWindow): number {
    return Math.ceil((endsAtMs - this.#clock.monotonicMs()) / 1_000);
  }
}
