import { expect, test } from 'vitest';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';

test('joins units with lengths of four bytes', () => {
  const joined = joinWithLengths([Buffer.of(9), Buffer.of(7, 8)]);
  expect([...joined]).toEqual([0, 0, 0, 1, 9, 0, 0, 0, 2, 7, 8]);
});
