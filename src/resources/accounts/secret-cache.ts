import { hashOfSecret } from './account.ts';

/** Whoever has a secret sends it with every request; for so long it is not looked up again. */
const ttlMs = 1_000;
const maxEntries = 10_000;

/** Remembers for a second what secrets open. Holds hashes of them only, and no more than ten thousand. */
export class SecretCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly goodUntilMs: number }>();

  /** What a secret opens: as it was a moment ago, or as `lookUp` finds it by the secret's hash. That it opens nothing is not remembered. */
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

  /** Forgets everything: something of it may have changed. */
  clear(): void {
    this.#entries.clear();
  }
}
