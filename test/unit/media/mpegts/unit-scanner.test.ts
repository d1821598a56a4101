import { expect, test } from 'vitest';
import { UnitScanner } from '../../../../src/media/mpegts/unit-scanner.ts';
import { Random } from '../../../support/random.ts';

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
])('finds units: %s, wherever the bytes are cut', (_what, list, units) => {
  const bytes = Buffer.from(list);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const scanner = new UnitScanner(100);
    scanner.scan(bytes.subarray(0, cut));
    scanner.scan(bytes);
    expect(scanner.units(bytes).map(unit => [...unit])).toEqual(units);
  }
});

test('finds the same units in one piece and in many, also after the first bytes are gone', () => {
  const random = new Random(32);
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(
      Array.from({ length: random.below(60) }, () => [0, 0, 0, 1, 2][random.below(5)]!),
    );
    const whole = new UnitScanner(100);
    whole.scan(bytes);
    const pieces = new UnitScanner(100);
    let at = 0;
    while (at < bytes.length) {
      at = Math.min(bytes.length, at + random.below(8));
      pieces.scan(bytes.subarray(0, at));
    }
    const units = whole.units(bytes);
    expect(pieces.units(bytes)).toEqual(units);
    const kept = units[random.below(units.length + 1)];
    if (kept === undefined) continue;
    const gone = kept.byteOffset - bytes.byteOffset - 3;
    const more = Buffer.concat([bytes.subarray(gone), Buffer.from([0, 0, 1, 9])]);
    pieces.skip(gone);
    pieces.scan(more);
    const fresh = new UnitScanner(100);
    fresh.scan(more);
    expect(pieces.units(more)).toEqual(fresh.units(more));
  }
});

test('ignores units beyond the limit', () => {
  const bytes = Buffer.concat(Array.from({ length: 10 }, (_, index) => Buffer.from([0, 0, 1, index + 1])));
  const scanner = new UnitScanner(3);
  scanner.scan(bytes);
  expect(scanner.units(bytes).map(unit => [...unit])).toEqual([[1], [2], [3]]);
});
