import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { maxEntries } from './lru-limit.ts';

interface Known<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

/** Changes are seen after this delay. */
const freshMs = 1000;
/** Age up to which a value is used while the database does not answer. */
const maxStaleMs = 60_000;
const maxLookupMs = 500;

/** Reads a row once a second, however often it is asked for. Rows that do not exist are read each time. */
export class RecentLookups<Value extends object> {
  readonly #read: (id: string) => Promise<Value | undefined>;
  readonly #clock: Clock;
  readonly #known: LRUCache<string, Known<Value>>;
  /** Shared by those who ask meanwhile. */
  readonly #lookups = new Map<string, Promise<Value | undefined>>();

  constructor(read: (id: string) => Promise<Value | undefined>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
    this.#known = new LRUCache({
      ...maxEntries(10_000),
      ttl: maxStaleMs,
      ttlResolution: 0,
      perf: { now: () => clock.monotonicMs() },
    });
  }

  /** Undefined unless it was read within the last second. */
  recent(id: string): Value | undefined {
    const known = this.#known.get(id);
    if (known === undefined || this.#clock.monotonicMs() - known.readAtMs >= freshMs) return undefined;
    return known.value;
  }

  /** Uses the last value when the database does not answer soon. */
  find(id: string): Promise<Value | undefined> {
    let lookup = this.#lookups.get(id);
    if (lookup === undefined) {
      const found = this.read(id).finally(() => this.#lookups.delete(id));
      const known = this.#known.get(id)?.value;
      lookup =
        known === undefined
          ? found
          : Promise.race([found.catch(() => known), sleep(maxLookupMs, known, { ref: false })]);
      this.#lookups.set(id, lookup);
    }
    return lookup;
  }

  /** Reads it now. */
  async read(id: string): Promise<Value | undefined> {
    const value = await this.#read(id);
    if (value === undefined) this.#known.delete(id);
    else this.#known.set(id, { value, readAtMs: this.#clock.monotonicMs() });
    return value;
  }
}
