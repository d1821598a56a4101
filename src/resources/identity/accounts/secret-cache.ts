import { LRUCache } from 'lru-cache';
import { maxEntries } from '../../../shared/lru-limit.ts';
import { hashOfSecret } from './account.ts';

/** Caches lookups for a second, because clients send secrets with every request. Holds only hashes. */
export class SecretCache<Value extends object> {
  readonly #entries = new LRUCache<string, Value>({ ...maxEntries(10_000), ttl: 1_000, ttlResolution: 0 });
  #clears = 0;

  async getOrLoad(
    secret: string,
    load: (hash: Buffer) => Promise<Value | undefined>,
  ): Promise<Value | undefined> {
    const hash = hashOfSecret(secret);
    const key = hash.toString('latin1');
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const clears = this.#clears;
    const value = await load(hash);
    // A value from before a change must not be cached after it.
    if (value !== undefined && clears === this.#clears) this.#entries.set(key, value);
    return value;
  }

  clear(): void {
    this.#clears += 1;
    this.#entries.clear();
  }
}
