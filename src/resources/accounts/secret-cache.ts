import { LRUCache } from 'lru-cache';
import { hashOfSecret } from './account.ts';

/** Caches for a second what secrets open, because clients send them with every request. Holds only hashes of the secrets. */
export class SecretCache<Value extends object> {
  readonly #entries = new LRUCache<string, Value>({ max: 10_000, ttl: 1_000, ttlResolution: 0 });

  /** Returns the cached value of a secret, or what `load` finds by the secret's hash. Misses are not cached. */
  getOrLoad(secret: string, load: (hash: Buffer) => Value | undefined): Value | undefined {
    const hash = hashOfSecret(secret);
    const key = hash.toString('latin1');
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached;
    const value = load(hash);
    if (value !== undefined) this.#entries.set(key, value);
    return value;
  }

  clear(): void {
    this.#entries.clear();
  }
}
