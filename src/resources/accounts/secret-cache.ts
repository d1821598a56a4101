import { hashOfSecret } from './account.ts';

const ttlMs = 1_000;
const maxEntries = 10_000;

/** Caches for a second what secrets open, because clients send them with every request. Holds only hashes of the secrets. */
export class SecretCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly goodUntilMs: number }>();

  /** Returns the cached value of a secret, or what `load` finds by the secret's hash. Misses are not cached. */
  getOrLoad(secret: string, load: (hash: Buffer) => Value | undefined): Value | undefined {
    const hash = hashOfSecret(secret);
    const name = hash.toString('latin1');
    const nowMs = performance.now();
    const cached = this.#entries.get(name);
    if (cached !== undefined && nowMs < cached.goodUntilMs) return cached.value;
    const value = load(hash);
    if (value === undefined) return undefined;
    if (this.#entries.size >= maxEntries) this.#entries.clear();
    this.#entries.set(name, { value, goodUntilMs: nowMs + ttlMs });
    return value;
  }

  clear(): void {
    this.#entries.clear();
  }
}
