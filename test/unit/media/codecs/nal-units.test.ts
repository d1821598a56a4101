import { expect, test } from 'vitest';
import { joinWithLengths, splitAnnexB } from '../../../../src/media/codecs/nal-units.ts';

test.each([
  [
    'start codes of both lengths',
    [0, 0, 0, 1, 9, 1, 0, 0, 1, 7, 2],
    [
      [9, 1],
      [7, 2],
    ],
  ],
  [
    'zeros after a unit',
    [0, 0, 1, 5, 3, 0, 0, 0, 0, 0, 1, 6, 4, 0, 0],
    [
      [5, 3],
      [6, 4],
    ],
  ],
  ['bytes before the first start code', [1, 2, 0, 0, 1, 5], [[5]]],
  ['an empty unit', [0, 0, 1, 0, 0, 1, 5], [[5]]],
  ['no start code', [5, 6, 7], []],
  ['only a start code', [0, 0, 1], []],
])('splits %s', (_what, bytes, units) => {
  expect(splitAnnexB(Buffer.from(bytes)).map(unit => [...unit])).toEqual(units);
});

test('joins units with lengths of four bytes', () => {
  const joined = joinWithLengths([Buffer.of(9), Buffer.of(7, 8)]);
  expect([...joined]).toEqual([0, 0, 0, 1, 9, 0, 0, 0, 2, 7, 8]);
});
