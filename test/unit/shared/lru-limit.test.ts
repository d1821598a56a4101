import { LRUCache } from 'lru-cache';
import { expect, test } from 'vitest';
import { maxEntries } from '../../../src/shared/lru-limit.ts';

test('an entry too many removes the least recently used', () => {
  const cache = new LRUCache<string, number>(maxEntries(3));
  for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index);
  cache.get('a');
  cache.set('b', 9);
  cache.set('d', 3);
  expect([...cache.keys()].sort()).toEqual(['a', 'b', 'd']);
});

test('a removed entry makes room for another', () => {
  const cache = new LRUCache<string, number>(maxEntries(2));
  cache.set('a', 1);
  cache.set('b', 2);
  cache.delete('a');
  cache.set('c', 3);
  expect([...cache.keys()].sort()).toEqual(['b', 'c']);
});

test('an expired entry is not returned', () => {
  let nowMs = 1;
  const cache = new LRUCache<string, number>({
    ...maxEntries(2),
    ttl: 1000,
    ttlResolution: 0,
    perf: { now: () => nowMs },
  });
  cache.set('a', 1);
  nowMs += 1001;
  expect(cache.get('a')).toBeUndefined();
});
