import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readImageInfo } from '../../../../src/http/bodies/image-file.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const jpegFrame = hex('ffc0 000b 08 0102 0304 01 01 11 00');
const jpeg = Buffer.concat([hex('ffd8 ffe0 0004 4a46 ff'), jpegFrame, hex('ffd9')]);

function png(width: number, height: number): Buffer {
  const header = Buffer.concat([Buffer.from('IHDR'), Buffer.alloc(8), hex('08 02 00 00 00')]);
  header.writeUInt32BE(width, 4);
  header.writeUInt32BE(height, 8);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(header));
  return Buffer.concat([hex('89504e470d0a1a0a 0000000d'), header, sum, Buffer.alloc(12)]);
}

function webp(chunk: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(`WEBP${chunk}`), Buffer.alloc(4), data, Buffer.alloc(10)]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from('RIFF'), length, body]);
}

describe('an image', () => {
  it.each([
    ['JPEG', jpeg, { type: 'image/jpeg', width: 0x304, height: 0x102 }],
    ['PNG', png(640, 360), { type: 'image/png', width: 640, height: 360 }],
    [
      'WebP, lossy',
      webp('VP8 ', hex('000000 9d012a 8002 6801')),
      { type: 'image/webp', width: 640, height: 360 },
    ],
    ['WebP, lossless', webp('VP8L', hex('2f 7fc25900')), { type: 'image/webp', width: 640, height: 360 }],
    [
      'WebP, extended',
      webp('VP8X', hex('00000000 7f0200 670100')),
      { type: 'image/webp', width: 640, height: 360 },
    ],
  ])('%s is known by its bytes', (_, bytes, expected) => {
    expect(readImageInfo(bytes)).toEqual(expected);
  });

  it.each([
    ['text', Buffer.from('hello')],
    ['nothing', Buffer.alloc(0)],
    ['GIF', Buffer.from('GIF89a')],
    ['WAV', Buffer.from('RIFF\0\0\0\0WAVEfmt ')],
  ])('%s is none', (_, bytes) => {
    expect(readImageInfo(bytes)).toBeUndefined();
  });

  it.each([
    ['a JPEG without a frame', hex('ffd8ff e0 0004 0000 ffd9')],
    ['a JPEG whose scan comes first', Buffer.concat([hex('ffd8 ffda 0004 0000'), jpegFrame])],
    ['a PNG of no width', png(0, 5)],
    ['a PNG with a wrong sum', Buffer.concat([png(1, 1).subarray(0, 29), Buffer.alloc(16)])],
    ['a WebP of an unknown kind', webp('ABCD', Buffer.alloc(20))],
  ])('%s is damaged', (_, bytes) => {
    expect(readImageInfo(bytes)).toBe('damaged');
  });

  it('cut off anywhere is damaged, unknown, or still enough to read', () => {
    for (const whole of [jpeg, png(1, 1), webp('VP8L', hex('2f 7fc25900'))]) {
      for (let length = 0; length < whole.length; length += 1) {
        const facts = readImageInfo(whole.subarray(0, length));
        expect([undefined, 'damaged', 'object'].includes(typeof facts === 'object' ? 'object' : facts)).toBe(
          true,
        );
      }
    }
  });
});

it.each([
  ['segments', hex('ffe0 0002')],
  ['fill bytes', hex('ffff ffff')],
])('a JPEG of millions of empty %s is damaged before all of them are read', (_, part) => {
  expect(readImageInfo(Buffer.concat([hex('ffd8'), Buffer.alloc(20_000, part), jpegFrame]))).toBe('damaged');
  expect(readImageInfo(Buffer.concat([hex('ffd8'), Buffer.alloc(4_000, part), jpegFrame]))).toMatchObject({
    width: 0x304,
  });
});
