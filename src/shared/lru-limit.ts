/**
 * Limits the number of entries of an `LRUCache`. Its own option `max` reserves memory for all of them at once:
 * 22 bytes each.
 */
export function maxEntries(max: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: max, sizeCalculation: () => 1 };
}
