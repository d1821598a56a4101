interface CountedBlock {
  /** Random, and new after each change. */
  readonly revision: number;
}

const maxFilters = 32;
const maxCounts = 250_000;

export class BlockCountCache {
  /** Least recently used first. */
  readonly #filters = new Map<string, FilterCounts>();

  of(key: string): FilterCounts {
    const counts = this.#filters.get(key) ?? new FilterCounts();
    this.#filters.delete(key);
    this.#filters.set(key, counts);
    return counts;
  }

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

export class FilterCounts {
  readonly #orders = new Map<string, SortOrderCounts>();

  of(order: string): SortOrderCounts {
    let counts = this.#orders.get(order);
    if (counts === undefined) {
      counts = new SortOrderCounts();
      this.#orders.set(order, counts);
    }
    return counts;
  }

  get size(): number {
    let size = 0;
    for (const counts of this.#orders.values()) size += counts.size;
    return size;
  }
}

class SortOrderCounts {
  readonly #counts = new Map<number, number>();

  get size(): number {
    return this.#counts.size;
  }

  get({ revision }: CountedBlock): number | undefined {
    return this.#counts.get(revision);
  }

  set({ revision }: CountedBlock, count: number): number {
    this.#counts.set(revision, count);
    return count;
  }

  keepOnly(blocks: readonly CountedBlock[]): void {
    if (this.#counts.size <= 2 * blocks.length + 16) return;
    const present = new Set(blocks.map(block => block.revision));
    for (const revision of this.#counts.keys()) if (!present.has(revision)) this.#counts.delete(revision);
  }
}
