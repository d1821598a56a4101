import { expect, test } from 'vitest';
import { unitsOf } from '../../../../src/media/rtp/depacketize.ts';
import { packetizeH264 } from '../../../../src/media/rtp/packetize.ts';
import { Random } from '../../../support/random.ts';

const maxBytes = 1_180;

function unit(type: number, bytes: number, random: Random): Buffer {
  const found = random.bytes(bytes);
  found[0] = 0x60 | type;
  return found;
}

test('small units share a payload, and large ones are cut', () => {
  const random = new Random(1);
  const units = [unit(7, 20, random), unit(8, 5, random), unit(5, 3_000, random)];
  const payloads = packetizeH264(units, maxBytes);
  expect(payloads.map(payload => payload[0]! & 0x1f)).toEqual([24, 28, 28, 28]);
  expect(payloads.slice(1).map(payload => payload[1]! >> 6)).toEqual([0b10, 0b00, 0b01]);
  expect(unitsOf('avc1', payloads)).toEqual(units);
});

test('whatever the sizes, the units come back, and no payload is too large', () => {
  const random = new Random(2);
  for (let round = 0; round < 500; round++) {
    const sizes = Array.from({ length: 1 + random.below(12) }, () => {
      const nearLimit = maxBytes - 3 + random.below(6);
      return [2 + random.below(60), nearLimit, 2 + random.below(9_000)][random.below(3)]!;
    });
    const units = sizes.map(size => unit(1 + random.below(20), size, random));
    const payloads = packetizeH264(units, maxBytes);
    expect(Math.max(...payloads.map(({ length }) => length))).toBeLessThanOrEqual(maxBytes);
    expect(unitsOf('avc1', payloads)).toEqual(units);
  }
});
