import { describe, expect, test } from 'vitest';
import { unitsOf } from '../../../../src/media/rtp/depacketize.ts';
import { Random } from '../../../support/random.ts';

const hex = (text: string) => Buffer.from(text.replace(/ /g, ''), 'hex');

describe('H.264', () => {
  test('single units, aggregates and fragments become units', () => {
    const payloads = [
      hex('78 0003 674201 0002 68ce'), // STAP-A
      hex('06 0102'),
      hex('7c 85 aabb'), // FU-A of an IDR slice
      hex('7c 05 cc'),
      Buffer.alloc(0),
      hex('7c 45 dd'),
    ];
    expect(unitsOf('avc1', payloads)).toEqual([hex('674201'), hex('68ce'), hex('060102'), hex('65aabbccdd')]);
  });

  test.each([
    ['a fragment without its start', ['7c 05 aa', '7c 45 bb']],
    ['a fragment without its end', ['7c 85 aa']],
    ['a fragment that starts twice', ['7c 85 aa', '7c 85 bb']],
    ['a unit between fragments', ['7c 85 aa', '61 01', '7c 45 bb']],
    ['an aggregate that is too short', ['78 0009 67']],
    ['a fragment without a header', ['7c']],
    ['a type that is not negotiated', ['79 0003 674201']],
  ])('%s is refused', (_, payloads) => {
    expect(unitsOf('avc1', payloads.map(hex))).toBeUndefined();
  });
});

test('HEVC: single units, aggregates and fragments become units', () => {
  const payloads = [
    hex('6001 0003 400101 0003 420102'), // AP
    hex('4e01 05'),
    hex('6201 93 aabb'), // FU of IDR_W_RADL
    hex('6201 53 cc'),
  ];
  expect(unitsOf('hvc1', payloads)).toEqual([hex('400101'), hex('420102'), hex('4e0105'), hex('2601aabbcc')]);
});

test.each(['avc1', 'hvc1'] as const)('random payloads of %s do no harm', codec => {
  const random = new Random(17);
  for (let round = 0; round < 5_000; round++) {
    unitsOf(
      codec,
      Array.from({ length: random.below(5) }, () => random.bytes(random.below(40))),
    );
  }
});
