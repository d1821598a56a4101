import { describe, expect, it } from 'vitest';
import { FixedWindows } from '../../../src/shared/fixed-windows.ts';
import { TokenBuckets } from '../../../src/shared/token-buckets.ts';

describe('fixed windows', () => {
  it('let so many through per key from its first on, and begin again after their time', () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const windows = new FixedWindows({ windowMs: 1_000, maxKeys: 2, clock });
    const take = (key: string) => windows.take(key, 2);
    expect(['a', 'a', 'a', 'b'].map(take)).toEqual([true, true, false, true]);
    nowMs = 999;
    expect(take('a')).toBe(false);
    nowMs = 1_000;
    expect(['a', 'a', 'a'].map(take)).toEqual([true, true, false]);
    // A third key replaces the window that ends first.
    expect(['b', 'c', 'a'].map(take)).toEqual([true, true, true]);
    windows.delete('c');
    expect(['c', 'c', 'c'].map(take)).toEqual([true, true, false]);
  });
});

describe('token buckets', () => {
  it('let so many through at once, then so many a minute, and remember only so many names', () => {
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const buckets = new TokenBuckets({ perMinute: 60, burst: 2, maxNames: 2, clock });
    expect([1, 2, 3].map(() => buckets.take('a'))).toEqual([true, true, false]);
    nowMs = 1_000;
    expect([1, 2].map(() => buckets.take('a'))).toEqual([true, false]);
    for (const other of ['b', 'c']) buckets.take(other);
    expect(buckets.take('a')).toBe(true);
  });
});
