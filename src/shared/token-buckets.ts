import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { maxEntries } from './lru-limit.ts';

/** Allows bursts, and beyond them a steady rate. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #filledAtMs: number;

  constructor(options: { perSecond: number; burst: number; nowMs: number }) {
    this.#perMs = options.perSecond / 1_000;
    this.#burst = options.burst;
    this.#tokens = options.burst;
    this.#filledAtMs = options.nowMs;
  }

  /** @param nowMs monotonic */
  take(nowMs: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledAtMs) * this.#perMs);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

export class TokenBuckets {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #buckets: LRUCache<string, TokenBucket>;

  /** `perMinute`: 0 for no limit. Beyond `maxNames`, the least recently used name starts over. */
  constructor(options: { perMinute: number; burst: number; maxNames: number; clock: Clock }) {
    this.#perMinute = options.perMinute;
    this.#burst = options.burst;
    this.#buckets = new LRUCache(maxEntries(options.maxNames));
    this.#clock = options.clock;
  }

  take(name: string): boolean {
    if (this.#perMinute === 0) return true;
    const nowMs = this.#clock.monotonicMs();
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      bucket = new TokenBucket({ perSecond: this.#perMinute / 60, burst: this.#burst, nowMs });
      this.#buckets.set(name, bucket);
    }
    return bucket.take(nowMs);
  }
}
