import { describe, expect, it } from 'vitest';
import { ViewerCount } from '../../../src/delivery/viewer-count.ts';

function countWithClock(maxSessions = 100) {
  let nowMs = 0;
  const count = new ViewerCount({ nowMs: () => nowMs, monotonicMs: () => nowMs }, maxSessions);
  return {
    count,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('ViewerCount', () => {
  it('counts each address and user agent once, by stream', () => {
    const { count } = countWithClock();
    count.seen('a', '10.0.0.1', 'Safari');
    count.seen('a', '10.0.0.1', 'Safari');
    count.seen('a', '10.0.0.1', 'Firefox');
    count.seen('a', '10.0.0.2', 'Safari');
    count.seen('b', '10.0.0.1', 'Safari');
    expect([count.of('a'), count.of('b'), count.of('c'), count.total()]).toEqual([3, 1, 0, 4]);
  });

  it('forgets who has not asked for ten seconds, and keeps who has', () => {
    const { count, pass } = countWithClock();
    count.seen('a', '10.0.0.1', '');
    count.seen('a', '10.0.0.2', '');
    pass(6000);
    count.seen('a', '10.0.0.1', '');
    pass(6000);
    expect([count.of('a'), count.total()]).toEqual([1, 1]);
    pass(6000);
    expect([count.of('a'), count.total()]).toEqual([0, 0]);
  });

  it('keeps no more sessions than allowed, and takes new ones when old ones have gone', () => {
    const { count, pass } = countWithClock(2);
    for (const address of ['1', '2', '3']) count.seen('a', address, '');
    expect(count.total()).toBe(2);
    pass(11_000);
    count.seen('b', '4', '');
    expect([count.of('a'), count.of('b'), count.total()]).toEqual([0, 1, 1]);
  });
});
