/** A block of a sort order, as far as what was counted in it depends on it. */
export interface CountedBlock {
  /** Random, and another one after each change. */
  readonly revision: number;
}

const maxFilters = 32;
const maxCounts = 250_000;

/** How many videos of each block meet filters that were asked for of late. */
export class BlockCountCache {
  /** The longest unused first. */
  readonly #filters = new Map<string, FilterCounts>();

  /** The counts of a filter; `key` tells filters apart. */
  of(key: string): FilterCounts {
    const counts = this.#filters.get(key) ?? new FilterCounts();
    this.#filters.delete(key);
    this.#filters.set(key, counts);
    return counts;
  }

  /** Forgets the longest unused filters above what may be kept. */
  trim(): void {
    let counts = 0;
    for (const filter of this.#filters.values()) counts += filter.size;
    for (const [key, filter] of this.#filters) {
      if (this.#filters.size <= maxFilters && counts <= maxCounts) return;
      counts -= filter.size;
      this.#filters.delete(key);
    }
  }
}

/** The counts of one filter, for each sort order that was walked. */
export class FilterCounts {
  readonly #orders = new Map<string, SortOrderCounts>();

  /** The counts in one sort order. */
  of(order: string): SortOrderCounts {
    let counts = this.#orders.get(order);
    if (counts === undefined) {
      counts = new SortOrderCounts();
      this.#orders.set(order, counts);
    }
    return counts;
  }

  /** Blocks that were counted, of all orders. */
  get size(): number {
    let size = 0;
    for (const counts of this.#orders.values()) size += counts.size;
    return size;
  }
}

/** The counts of one filter in the blocks of one sort order, by the blocks' revisions. */
export class SortOrderCounts {
  readonly #counts = new Map<number, number>();

  get size(): number {
    return this.#counts.size;
  }

  /** What was counted in a block, if it has not changed since. */
  get({ revision }: CountedBlock): number | undefined {
    return this.#counts.get(revision);
  }

  /** Notes what was counted in a block, and gives it back. */
  set({ revision }: CountedBlock, count: number): number {
    this.#counts.set(revision, count);
    return count;
  }

  /** Forgets blocks that are no more or have changed, once there are many of them. */
  keepOnly(blocks: readonly CountedBlock[]): void {
    if (this.#counts.size <= 2 * blocks.length + 16) return;
    const present = new Set(blocks.map(block => block.revision));
    for (const revision of this.#counts.keys()) if (!present.has(revision)) this.#counts.delete(revision);
  }
}
