import { describe, expect, it } from 'vitest';
import { type LatencyMode, ViewerCount } from '../../../../src/delivery/live/viewer-count.ts';

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

  it('tells how the viewers of the last hour played, and why some do not play over WebRTC', () => {
    const { count, pass } = countWithClock();
    const request = (address: string, mode: LatencyMode, times: number) => {
      for (let time = 0; time < times; time += 1) count.recordRequest('a', address, '', mode);
    };
    // A player begins with a request that does not wait.
    request('low', 'standard', 1);
    request('low', 'low', 1);
    request('standard', 'standard', 3);
    request('gone at once', 'standard', 1);
    request('phone', 'appleWithoutHttp2', 3);
    request('studio', 'ultraLow', 1);
    for (const reason of ['unconnected', 'full', 'unsuitable'] as const) count.recordRefusal(reason);
    const told = {
      low: 1,
      standard: 1,
      appleWithoutHttp2: 1,
      ultraLow: 1,
      unconnected: 1,
      full: 1,
      unsuitable: 1,
    };
    expect(count.latency()).toEqual(told);
    pass(60_000);
    expect([count.total(), count.latency()]).toEqual([0, told]);
    pass(3_600_001);
    expect(Object.values(count.latency()).every(number => number === 0)).toBe(true);
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
