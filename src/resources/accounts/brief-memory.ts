import { hashOfSecret } from './account.ts';

/** Whoever has a secret sends it with every request; for so long it is not looked up again. */
const keptMs = 1_000;
const keptAtMost = 10_000;

/** Remembers for a second what secrets open. Holds hashes of them only, and no more than ten thousand. */
export class BriefMemory<Value> {
  readonly #kept = new Map<string, { readonly value: Value; readonly goodUntilMs: number }>();

  /** What a secret opens: as it was a moment ago, or as `lookUp` finds it by the secret's hash. That it opens nothing is not remembered. */
  find(secret: string, lookUp: (hash: Buffer) => Value | undefined): Value | undefined {
    const hash = hashOfSecret(secret);
    const name = hash.toString('latin1');
    const nowMs = performance.now();
    const kept = this.#kept.get(name);
    if (kept !== undefined && nowMs < kept.goodUntilMs) return kept.value;
    const value = lookUp(hash);
    if (value === undefined) return undefined;
    if (this.#kept.size >= keptAtMost) this.#kept.clear();
    this.#kept.set(name, { value, goodUntilMs: nowMs + keptMs });
    return value;
  }

  /** Forgets everything: something of it may have changed. */
  clear(): void {
    this.#kept.clear();
  }
}
