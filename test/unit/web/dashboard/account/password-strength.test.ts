import { expect, test } from 'vitest';
import { strengthOf } from '../../../../../src/web/dashboard/pages/account/password-strength.ts';

test.each([
  ['elevenchars', 0],
  ['admin@localhost', 0],
  ['x'.repeat(201), 0],
  ['aaaaaaaaaaaaaaaa', 1],
  ['abcdefghijklmnop', 1],
  ['passwordpassword', 1],
  ['Password123456!!', 1],
  ['summer of 2024!', 2],
  ['correct-horse-battery', 2],
  ['correct-horse-battery-staple', 3],
  ['nine boats leave at dawn', 4],
  ['gX7Qz4Hn8Jm2Kw5Lq1Pz', 4],
])('%s is judged as %i', (password, score) => {
  expect(strengthOf(password, 'admin@localhost')?.score).toBe(score);
});

test('says how much is missing, and nothing of no password', () => {
  expect(strengthOf('elevenchars', '')?.label).toBe('Too short: 1 more character.');
  expect(strengthOf('four', '')?.label).toBe('Too short: 8 more characters.');
  expect(strengthOf('', '')).toBeUndefined();
});

test('counts nothing for the own address', () => {
  const password = 'longstreet77longstreet';
  const ofOthers = strengthOf(password, 'someone@example.org')!;
  expect(strengthOf(password, 'longstreet@example.org')!.score).toBeLessThan(ofOthers.score);
});
