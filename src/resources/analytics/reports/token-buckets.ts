import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../shared/clock.ts';

/** How much each of many may do: so many at once, and so many a minute. */
export class TokenBuckets {
  readonly #perMinute: number;
  readonly #atOnce: number;
  readonly #clock: Clock;
  readonly #buckets: LRUCache<string, { tokens: number; atMs: number }>;

  /** `perMinute` 0: no limit. Past `kept` names, the one that was asked for least recently is forgotten. */
  constructor(options: { perMinute: number; atOnce: number; kept: number; clock: Clock }) {
    this.#perMinute = options.perMinute;
    this.#atOnce = options.atOnce;
    this.#buckets = new LRUCache({ max: options.kept });
    this.#clock = options.clock;
  }

  /** Takes one of `name`; whether there was one. */
  take(name: string): boolean {
    if (this.#perMinute === 0) return true;
    const nowMs = this.#clock.monotonicMs();
    const bucket = this.#buckets.get(name) ?? { tokens: this.#atOnce, atMs: nowMs };
    this.#buckets.set(name, bucket);
    bucket.tokens = Math.min(
      this.#atOnce,
      bucket.tokens + ((nowMs - bucket.atMs) * this.#perMinute) / 60_000,
    );
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}
