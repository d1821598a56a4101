import { describe, expect, it } from 'vitest';
import { BackOff } from '../../../../src/web/shared/back-off.ts';

describe('BackOff', () => {
  it('doubles up to the longest time, and begins again after a reset', () => {
    const backOff = new BackOff(100, 500);
    const none = () => 0;
    expect([1, 2, 3, 4, 5].map(() => backOff.next(none))).toEqual([100, 200, 400, 500, 500]);
    backOff.reset();
    expect(backOff.next(none)).toBe(100);
  });

  it('spreads clients over a quarter of the time', () => {
    expect(new BackOff(1000, 1000).next(() => 0.999)).toBeCloseTo(750, 0);
  });
});
