import { describe, expect, it } from 'vitest';
import { ViewerCount } from '../../../../src/delivery/live/viewer-count.ts';

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
    count.recordRequest('a', '10.0.0.1', 'Safari');
    count.recordRequest('a', '10.0.0.1', 'Safari');
    count.recordRequest('a', '10.0.0.1', 'Firefox');
    count.recordRequest('a', '10.0.0.2', 'Safari');
    count.recordRequest('b', '10.0.0.1', 'Safari');
    expect([count.count('a'), count.count('b'), count.count('c'), count.total()]).toEqual([3, 1, 0, 4]);
  });

  it('forgets who has not asked for ten seconds, and keeps who has', () => {
    const { count, pass } = countWithClock();
    count.recordRequest('a', '10.0.0.1', '');
    count.recordRequest('a', '10.0.0.2', '');
    pass(6000);
    count.recordRequest('a', '10.0.0.1', '');
    pass(6000);
    expect([count.count('a'), count.total()]).toEqual([1, 1]);
    pass(6000);
    expect([count.count('a'), count.total()]).toEqual([0, 0]);
  });

  it('keeps no more sessions than allowed, and takes new ones when old ones have gone', () => {
    const { count, pass } = countWithClock(2);
    for (const address of ['1', '2', '3']) count.recordRequest('a', address, '');
    expect(count.total()).toBe(2);
    pass(11_000);
    count.recordRequest('b', '4', '');
    expect([count.count('a'), count.count('b'), count.total()]).toEqual([0, 1, 1]);
  });
});
