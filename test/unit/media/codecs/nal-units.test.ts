import { expect, test } from 'vitest';
import { joinWithLengths, splitLengths } from '../../../../src/media/codecs/nal-units.ts';

test('joins units with lengths of four bytes', () => {
  const joined = joinWithLengths([Buffer.of(9), Buffer.of(7, 8)]);
  expect([...joined]).toEqual([0, 0, 0, 1, 9, 0, 0, 0, 2, 7, 8]);
});

test('units of a sample are split up to a number, also those that are empty', () => {
  const empty = Buffer.alloc(4 * 1_000_000);
  expect(splitLengths(Buffer.concat([empty, joinWithLengths([Buffer.of(7)])]), 4, 64)).toEqual([]);
  const many = joinWithLengths(Array.from({ length: 100 }, () => Buffer.of(9)));
  expect(splitLengths(many, 4, 64)).toHaveLength(64);
  expect(splitLengths(many, 4)).toHaveLength(100);
});
