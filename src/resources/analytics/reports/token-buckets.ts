import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/clock.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';

export class TokenBuckets {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #clock: Clock;
  readonly #buckets: LRUCache<string, { tokens: number; atMs: number }>;

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
    const bucket = this.#buckets.get(name) ?? { tokens: this.#burst, atMs: nowMs };
    this.#buckets.set(name, bucket);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + ((nowMs - bucket.atMs) * this.#perMinute) / 60_000);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
