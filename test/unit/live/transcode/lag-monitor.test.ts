import { describe, expect, test } from 'vitest';
import { LagMonitor } from '../../../../src/live/transcode/lag-monitor.ts';

/** The verdicts of one look a second. */
function watch(lags: readonly number[]): string[] {
  const lagWatch = new LagMonitor();
  return lags.map((lagMs, second) => lagWatch.observe(second * 1000, lagMs));
}

const seconds = (count: number, lagAt: (second: number) => number) =>
  Array.from({ length: count }, (_, at) => lagAt(at));

describe('an encoder', () => {
  test('that keeps up is fine, whatever its usual lag', () => {
    expect(new Set(watch(seconds(60, at => 600 + (at % 3) * 200)))).toEqual(new Set(['fine']));
  });

  test('whose lag stands still is fine: less work would not make it less', () => {
    expect(new Set(watch(seconds(60, () => 2500)))).toEqual(new Set(['fine']));
  });

  test('of speed 0.9 is slow after ten seconds', () => {
    const verdicts = watch(seconds(20, at => 500 + at * 100));
    expect(verdicts.indexOf('slow')).toBe(10);
  });

  test('that stands still is late after some seconds', () => {
    const verdicts = watch(seconds(10, at => at * 1000));
    expect(verdicts.indexOf('late')).toBe(5);
  });

  test('that catches up from far behind is left to it', () => {
    expect(new Set(watch(seconds(40, at => Math.max(300, 9000 - at * 400))))).toEqual(new Set(['fine']));
  });

  test('that begins anew is judged anew', () => {
    const lagWatch = new LagMonitor();
    for (let at = 0; at < 9; at += 1) lagWatch.observe(at * 1000, at * 400);
    lagWatch.restart();
    expect(lagWatch.observe(10_000, 3900)).toBe('fine');
  });
});
