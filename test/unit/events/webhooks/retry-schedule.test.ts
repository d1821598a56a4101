import { expect, test } from 'vitest';
import { retryAtMs } from '../../../../src/events/webhooks/retry-schedule.ts';

const hour = 3_600_000;

function triesOf(random: number): number[] {
  const tries = [0];
  for (;;) {
    const nowMs = tries.at(-1)!;
    const next = retryAtMs(tries.length, { firstAttemptAtMs: 0, nowMs }, random);
    if (next === undefined) return tries;
    tries.push(next);
  }
}

test('a delivery is tried 3 times more 3 s apart, then less often, for the last time after a day', () => {
  const tries = triesOf(0);
  expect(tries.slice(0, 6)).toEqual([0, 3_000, 6_000, 9_000, 19_000, 49_000]);
  expect(tries.at(-1)).toBe(24 * hour);
  expect(tries.length).toBeLessThan(25);
  const gaps = tries.map((at, index) => at - (tries[index - 1] ?? 0)).slice(1, -1);
  expect(gaps).toEqual(gaps.toSorted((a, b) => a - b));
});

test('what failed together is spread, the quick tries left out', () => {
  const [early, late] = [triesOf(0), triesOf(1)];
  expect(late.slice(0, 4)).toEqual(early.slice(0, 4));
  expect(late[4]! - late[3]!).toBe(12_000);
  expect(late.at(-1)).toBe(24 * hour);
});

test('nothing is tried after the day, however late its last try came', () => {
  expect(retryAtMs(1, { firstAttemptAtMs: 0, nowMs: 24 * hour }, 0)).toBeUndefined();
  expect(retryAtMs(1, { firstAttemptAtMs: 0, nowMs: 24 * hour - 1 }, 0)).toBe(24 * hour);
});
