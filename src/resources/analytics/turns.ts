const turnMs = 3;

/**
 * Lets pieces of long work take turns with each other and with everything else that the server does: in each round of the event loop
 * one of them goes on, for a few milliseconds.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** A new piece of work, whose first turn begins when this resolves. */
  async begin(): Promise<Turn> {
    await this.next();
    return new Turn(this);
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(() => this.#letOneGo());
    });
  }

  #letOneGo(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#letOneGo());
  }
}

/** One piece of work that takes turns; from {@link Turns.begin}. */
export class Turn {
  readonly #turns: Turns;
  #beganAt = performance.now();

  /** Use {@link Turns.begin}. */
  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Whether others should go on now. */
  get isOver(): boolean {
    return performance.now() - this.#beganAt >= turnMs;
  }

  /** Lets others go on when this has lasted long enough. To be called after each step that takes some milliseconds at most. */
  async pause(): Promise<void> {
    if (!this.isOver) return;
    await this.#turns.next();
    this.#beganAt = performance.now();
  }
}

const itemsInAStep = 500;

/** Makes one thing of each other, in turns. */
export async function mapInTurns<Item, Made>(
  items: Iterable<Item>,
  turn: Turn,
  make: (item: Item) => Made,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) {
    made.push(make(item));
    if (made.length % itemsInAStep === 0) await turn.pause();
  }
  return made;
}

/** The items in the order that `compare` tells, sorted in turns; those that are alike stay in their order. */
export async function sortInTurns<Item>(
  items: readonly Item[],
  turn: Turn,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let sorted: Item[] = [];
  for (let first = 0; first < items.length; first += itemsInAStep) {
    for (const item of items.slice(first, first + itemsInAStep).sort(compare)) sorted.push(item);
    await turn.pause();
  }
  for (let length = itemsInAStep; length < items.length; length *= 2) {
    const merged: Item[] = [];
    for (let first = 0; first < sorted.length; first += 2 * length) {
      const middle = Math.min(first + length, sorted.length);
      const end = Math.min(middle + length, sorted.length);
      for (let left = first, right = middle; left < middle || right < end; ) {
        const isLeft = right >= end || (left < middle && compare(sorted[left]!, sorted[right]!) <= 0);
        merged.push(isLeft ? sorted[left++]! : sorted[right++]!);
        if (merged.length % itemsInAStep === 0) await turn.pause();
      }
    }
    sorted = merged;
  }
  return sorted;
}
