import { AppError } from './errors.ts';
import { CoalescedTask } from './scheduling/coalesced-task.ts';

interface Lookup<Value> {
  readonly id: string;
  readonly resolve: (found: Value | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const maxIdsPerRead = 500;
const maxWaiting = 50_000;

/** Reads what is asked for at the same time together, so that many who ask need one connection to the database. */
export class BatchedLookups<Value> {
  readonly #read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>;
  readonly #lookups: Lookup<Value>[] = [];
  readonly #reading = new CoalescedTask(() => this.#readRequested());

  constructor(read: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>) {
    this.#read = read;
  }

  /** @throws AppError `too-many-requests` while too many wait for the database */
  async find(id: string): Promise<Value | undefined> {
    if (this.#lookups.length >= maxWaiting) throw new AppError('too-many-requests');
    const { promise, resolve, reject } = Promise.withResolvers<Value | undefined>();
    this.#lookups.push({ id, resolve, reject });
    this.#reading.request();
    return promise;
  }

  async #readRequested(): Promise<void> {
    while (this.#lookups.length > 0) {
      const lookups = this.#lookups.splice(0, maxIdsPerRead);
      try {
        const found = await this.#read([...new Set(lookups.map(({ id }) => id))]);
        for (const { id, resolve } of lookups) resolve(found.get(id));
      } catch (error) {
        for (const { reject } of lookups) reject(error);
      }
    }
  }
}
