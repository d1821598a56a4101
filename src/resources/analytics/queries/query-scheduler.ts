const sliceMs = 3;

/**
 * Lets pieces of long work take turns with each other and with everything else that the server does: in each round of the event loop
 * one of them goes on, for a few milliseconds.
 */
export class QueryScheduler {
  readonly #waiting: (() => void)[] = [];

  /** A new piece of work, whose first turn begins when this resolves. */
  async start(): Promise<TimeSlice> {
    await this.nextSlice();
    return new TimeSlice(this);
  }

  /** Resolves when it is the caller's turn. */
  nextSlice(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#resumeOne());
    });
  }

  #resumeOne(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#resumeOne());
  }
}

/** One piece of work that takes turns; from {@link QueryScheduler.start}. */
export class TimeSlice {
  readonly #scheduler: QueryScheduler;
  #beganAt = performance.now();

  /** Use {@link QueryScheduler.start}. */
  constructor(turns: QueryScheduler) {
    this.#scheduler = turns;
  }

  /** Whether others should go on now. */
  get isExpired(): boolean {
    return performance.now() - this.#beganAt >= sliceMs;
  }

  /** Lets others go on when this has lasted long enough. To be called after each step that takes some milliseconds at most. */
  async yieldIfExpired(): Promise<void> {
    if (!this.isExpired) return;
    await this.#scheduler.nextSlice();
    this.#beganAt = performance.now();
  }
}

const itemsPerStep = 500;

/** Makes one thing of each other, in turns. */
export async function mapInSlices<Item, Made>(
  items: Iterable<Item>,
  turn: TimeSlice,
  make: (item: Item) => Made,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) {
    made.push(make(item));
    if (made.length % itemsPerStep === 0) await turn.yieldIfExpired();
  }
  return made;
}

/** The items in the order that `compare` tells, sorted in turns; those that are alike stay in their order. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  turn: TimeSlice,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let sorted: Item[] = [];
  for (let first = 0; first < items.length; first += itemsPerStep) {
    for (const item of items.slice(first, first + itemsPerStep).sort(compare)) sorted.push(item);
    await turn.yieldIfExpired();
  }
  for (let length = itemsPerStep; length < items.length; length *= 2) {
    const merged: Item[] = [];
    for (let first = 0; first < sorted.length; first += 2 * length) {
      const middle = Math.min(first + length, sorted.length);
      const end = Math.min(middle + length, sorted.length);
      for (let left = first, right = middle; left < middle || right < end; ) {
        const isLeft = right >= end || (left < middle && compare(sorted[left]!, sorted[right]!) <= 0);
        merged.push(isLeft ? sorted[left++]! : sorted[right++]!);
        if (merged.length % itemsPerStep === 0) await turn.yieldIfExpired();
      }
    }
    sorted = merged;
  }
  return sorted;
}
