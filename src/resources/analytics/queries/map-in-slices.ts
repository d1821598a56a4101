import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';

const itemsPerStep = 500;

export async function mapInSlices<Item, Made>(
  items: Iterable<Item>,
  slice: TimeSlice,
  make: (item: Item) => Made,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const item of items) {
    made.push(make(item));
    if (made.length % itemsPerStep === 0) await slice.yieldIfOver();
  }
  return made;
}

export async function sortInSlices<Item>(
  items: readonly Item[],
  slice: TimeSlice,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let sorted: Item[] = [];
  for (let first = 0; first < items.length; first += itemsPerStep) {
    for (const item of items.slice(first, first + itemsPerStep).sort(compare)) sorted.push(item);
    await slice.yieldIfOver();
  }
  for (let length = itemsPerStep; length < items.length; length *= 2) {
    const merged: Item[] = [];
    for (let first = 0; first < sorted.length; first += 2 * length) {
      const middle = Math.min(first + length, sorted.length);
      const end = Math.min(middle + length, sorted.length);
      for (let left = first, right = middle; left < middle || right < end; ) {
        const isLeft = right >= end || (left < middle && compare(sorted[left]!, sorted[right]!) <= 0);
        merged.push(isLeft ? sorted[left++]! : sorted[right++]!);
        if (merged.length % itemsPerStep === 0) await slice.yieldIfOver();
      }
    }
    sorted = merged;
  }
  return sorted;
}
