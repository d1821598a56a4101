import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';

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
    if (made.length % itemsPerStep === 0) await turn.yieldIfOver();
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
    await turn.yieldIfOver();
  }
  for (let length = itemsPerStep; length < items.length; length *= 2) {
    const merged: Item[] = [];
    for (let first = 0; first < sorted.length; first += 2 * length) {
      const middle = Math.min(first + length, sorted.length);
      const end = Math.min(middle + length, sorted.length);
      for (let left = first, right = middle; left < middle || right < end; ) {
        const isLeft = right >= end || (left < middle && compare(sorted[left]!, sorted[right]!) <= 0);
        merged.push(isLeft ? sorted[left++]! : sorted[right++]!);
        if (merged.length % itemsPerStep === 0) await turn.yieldIfOver();
      }
    }
    sorted = merged;
  }
  return sorted;
}
