import { describe, expect, test } from 'vitest';
import { avcParameters, avcTransfer, hevcTransfer } from '../../../../src/media/codecs/parameter-set.ts';

/** The bytes of a text of 0 and 1, filled up with zeros. Spaces are for the reader. */
function bits(text: string): Buffer {
  const plain = text.replaceAll(/\s/g, '');
  const bytes = plain.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map(byte => Number.parseInt(byte.padEnd(8, '0'), 2)));
}

/** Exp-Golomb text of unsigned numbers. */
function ue(...values: number[]): string {
  return values
    .map(value => {
      const digits = (value + 1).toString(2);
      return '0'.repeat(digits.length - 1) + digits;
    })
    .join(' ');
}

function fixed(value: number, width: number): string {
  return value.toString(2).padStart(width, '0');
}

/** VUI present; sample aspect ratio given in full; overscan said; colours BT.2020 with this transfer. */
function usability(transfer: number): string {
  return `1 1 ${fixed(255, 8)} ${fixed(4, 16)} ${fixed(3, 16)} 1 0 1 101 0 1 ${fixed(9, 8)} ${fixed(transfer, 8)} ${fixed(9, 8)}`;
}

describe('H.264', () => {
  test.each([
    ['profile 4:4:4 from x264', '67f4000a919b28e4f1f1780b50210024000003000400000300c83c489658', 16],
    ['interlaced from x264', '67640015acd9474f11ffe00400036d4084809000000300100000030321f1429960', 18],
    ['baseline from x264, without colours', '6742c00ad90727889b016880000003008000001907891324', undefined],
  ])('%s', (_, unit, transfer) => {
    expect(avcTransfer(Buffer.from(unit, 'hex'))).toBe(transfer);
  });

  test('behind scaling lists, order count type 1 and cropping', () => {
    // A list whose first step leads to 0 stands for the default; one with sixteen steps of 0 is flat.
    const lists = `1 ${ue(16)} 1 ${ue(...Array(16).fill(0))} 0 0 0 0 1 ${ue(...Array(64).fill(0))} 0`;
    const unit = bits(`
      01100111 ${fixed(100, 8)} 00000000 ${fixed(31, 8)} ${ue(0)}
      ${ue(1, 0, 0)} 0 1 ${lists}
      ${ue(0, 1)} 0 ${ue(0, 0, 2, 5, 6)}
      ${ue(4)} 0 ${ue(10, 10)} 0 1 1 1 ${ue(0, 0, 0, 4)} ${usability(18)} 1`);
    expect(avcTransfer(unit)).toBe(18);
  });

  test('nothing is known of one that is cut off', () => {
    const whole = Buffer.from('67f4000a919b28e4f1f1780b50210024000003000400000300c83c489658', 'hex');
    for (let length = 0; length < 20; length++) {
      expect([undefined, 16]).toContain(avcTransfer(whole.subarray(0, length)));
    }
    expect(avcTransfer(whole.subarray(0, 14))).toBeUndefined();
  });
});

describe('HEVC', () => {
  test.each([
    [
      '10 bit from x265',
      '42010102200000030090000003000003001ea034839c94d96566b9395e02d4084008100000030010000003019080',
      16,
    ],
    [
      'temporal layers from x265',
      '42010101600000030090000003000003001ea034839c9596566b932bc05a848901020000030002000003003210',
      18,
    ],
  ])('%s', (_, unit, transfer) => {
    expect(hevcTransfer(Buffer.from(unit, 'hex'))).toBe(transfer);
  });

  test('behind sub-layers, scaling lists, PCM, reference picture sets and long-term pictures', () => {
    const list = (steps: number) => `1 ${ue(...Array(steps).fill(0))}`;
    const predicted = `0 ${ue(0)}`;
    const lists = [
      ...Array(5).fill(predicted),
      list(16),
      ...Array(5).fill(predicted),
      list(64),
      ...Array(5).fill(predicted),
      list(65),
      predicted,
      list(65),
    ].join(' ');
    // One negative and one positive picture; then one predicted from it that keeps two of three.
    const sets = `${ue(2)} ${ue(1, 1)} ${ue(0)} 1 ${ue(1)} 0   1 0 ${ue(0)} 1 0 1 0 0`;
    const unit = bits(`
      0100001000000001 0000 001 1 ${'0'.repeat(96)} 11 ${'0'.repeat(14)} ${'0'.repeat(96)}
      ${ue(0, 3)} 0 ${ue(1920, 1080)} 1 ${ue(0, 0, 0, 4)} ${ue(2, 2, 4)}
      1 ${ue(4, 2, 0)} ${ue(4, 2, 0)} ${ue(0, 3, 0, 3, 1, 1)}
      1 1 ${lists} 1 1
      1 01110111 ${ue(0, 2)} 0
      ${sets}
      1 ${ue(1)} ${fixed(77, 8)} 1
      1 1 ${usability(16)} 0`);
    // Long runs of zeros come with the byte that keeps start codes out.
    const escaped: number[] = [];
    for (const byte of unit) {
      if (byte <= 3 && escaped.at(-1) === 0 && escaped.at(-2) === 0) escaped.push(3);
      escaped.push(byte);
    }
    expect(hevcTransfer(Buffer.from(escaped))).toBe(16);
  });

  test('an absurd number of sets ends with the unit', () => {
    const unit =
      bits(`0100001000000001 0000 000 1 ${'0'.repeat(96)} ${ue(0, 1, 8, 8)} 0 ${ue(0, 0, 4)} 0 ${ue(4, 2, 0)}
      ${ue(0, 3, 0, 3, 1, 1)} 0 0 0 0 ${ue(4_000_000_000)}`);
    expect(hevcTransfer(unit)).toBeUndefined();
  });
});

describe('parameters', () => {
  test('H.264: cropped size, pixel aspect, colours and frame rate', () => {
    const unit = Buffer.from('67f4000a919b28e4f1f1780b50210024000003000400000300c83c489658', 'hex');
    expect(avcParameters(unit)).toMatchObject({
      pixelAspect: expect.anything(),
      colour: { transfer: 16 },
      frameSeconds: 1 / 25,
    });
    expect(avcParameters(unit.subarray(0, 8))).toBeUndefined();
  });

  test('H.264 from x264: baseline of 160x90', () => {
    const unit = Buffer.from('6742c00bda0a37e4c044000003000400000300f03c50aa80', 'hex');
    expect(avcParameters(unit)).toMatchObject({ size: { width: 160, height: 90 }, frameSeconds: 1 / 30 });
  });
});
