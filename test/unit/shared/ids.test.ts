import { expect, test } from 'vitest';
import { newId, newUuid, randomBase62 } from '../../../src/shared/ids.ts';

test('an id is its prefix and 22 characters', () => {
  expect(newId('li')).toMatch(/^li[0-9A-Za-z]{22}$/);
});

test('a thousand ids are a thousand different ones', () => {
  expect(new Set(Array.from({ length: 1000 }, () => newId('vi'))).size).toBe(1000);
});

test('all 62 characters are equally likely', () => {
  const count = 62 * 2000;
  const seen = new Map<string, number>();
  for (const character of randomBase62(count)) seen.set(character, (seen.get(character) ?? 0) + 1);
  expect(seen.size).toBe(62);
  // Seven standard deviations of 2000 are 313: that a fair choice misses this happens less than once in 10^9 runs.
  for (const [character, times] of seen) expect(Math.abs(times - 2000), character).toBeLessThan(313);
});

test.each([0, 1, 2, 63])('%i characters are that many', length => {
  expect(randomBase62(length)).toHaveLength(length);
});

test('a UUID is of version 4', () => {
  expect(newUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
