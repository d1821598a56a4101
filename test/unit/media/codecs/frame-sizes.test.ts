import { describe, expect, test } from 'vitest';
import { readFrameSizes, readVideoConfig } from '../../../../src/media/codecs/frame-sizes.ts';

const avcLarge = '0142c03effe1001a6742c03eda0020000401b011000003000100000300020f08042a01000468ce0fc8';
const avcInterlaced = '014d4028ffe10019674d4028f403c0227ef011000003000100000300021f162ea001000468de0fc8';
const hevc =
  '01016000000090000000000096f000fcfdf8f800000f03a00001001840010c01ffff016000000300900000030000030096959409' +
  'a10001002c420101016000000300900000030000030096a001e020021c5965654a4c2f0168080000030008000003000840a20001000644 01c073c189';
const av1 = '810c0c000a0c00000062ea7fecfbb5f20080';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** A unit with a length of four bytes before it. */
function withLength(unit: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(unit.length);
  return Buffer.concat([length, unit]);
}

describe('picture sizes', () => {
  test.each([
    ['H.264 of x264', 'avc1', avcLarge, { width: 8192, height: 8192 }],
    ['interlaced H.264 of x264', 'avc1', avcInterlaced, { width: 1920, height: 1088 }],
    ['HEVC of x265', 'hvc1', hevc, { width: 3840, height: 2160 }],
    ['AV1 of libaom', 'av01', av1, { width: 2560, height: 1440 }],
  ] as const)('in the configuration of %s', (_, codec, record, size) => {
    expect(readVideoConfig(codec, hex(record)).sizes).toEqual([size]);
  });

  test('in a parameter set behind other units of a frame', () => {
    const set = hex(avcLarge).subarray(8, 8 + 26);
    const frame = Buffer.concat([withLength(hex('0910')), withLength(set), withLength(hex('65888400'))]);
    expect(readFrameSizes('avc1', frame, 4)).toEqual([{ width: 8192, height: 8192 }]);
  });

  test('are none in records that are cut off anywhere', () => {
    for (const [codec, text] of [
      ['avc1', avcLarge],
      ['hvc1', hevc],
      ['av01', av1],
    ] as const) {
      const record = hex(text);
      for (let length = 0; length < record.length; length += 1) {
        const { lengthBytes } = readVideoConfig(codec, record.subarray(0, length));
        readFrameSizes(codec, record.subarray(0, length), lengthBytes);
      }
      expect(readVideoConfig(codec, record.subarray(0, 8)).sizes).toEqual([]);
    }
  });
});
