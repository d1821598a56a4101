import { describe, expect, it } from 'vitest';
import { orientationOf } from '../../../../src/vod/images/image-orientation.ts';
import { exifOf, withExif } from '../../../support/exif.ts';

const size = { width: 4, height: 2 };
const images: Record<string, Buffer> = {
  JPEG: Buffer.from('ffd8ffe000044a46ffda0004000012ffd9', 'hex'),
  PNG: Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(29)]),
  WebP: Buffer.concat([Buffer.from('RIFF....WEBPVP8 \x04\0\0\0', 'latin1'), Buffer.alloc(4)]),
};

describe.each(Object.entries(images))('the orientation of a %s', (_, image) => {
  it('is read in both byte orders', () => {
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      for (const order of ['little', 'big'] as const) {
        expect(orientationOf(withExif(image, exifOf(orientation, order), size))).toBe(orientation);
      }
    }
  });

  it('is 1 when it is missing or invalid', () => {
    expect(orientationOf(image)).toBe(1);
    for (const orientation of [0, 9, 65_535]) {
      expect(orientationOf(withExif(image, exifOf(orientation), size))).toBe(1);
    }
  });

  it('is read from truncated or damaged data, or is 1', () => {
    const whole = withExif(image, exifOf(6), size);
    for (let length = 0; length < whole.length; length += 1) {
      expect([1, 6]).toContain(orientationOf(whole.subarray(0, length)));
      const wrong = Buffer.from(whole);
      wrong.fill(0xff, length, Math.min(length + 4, wrong.length));
      expect(orientationOf(wrong)).toBeGreaterThanOrEqual(1);
      wrong.fill(0, length, Math.min(length + 4, wrong.length));
      expect(orientationOf(wrong)).toBeGreaterThanOrEqual(1);
    }
  });
});

it.each([
  ['JPEG', Buffer.from('ffd8', 'hex'), Buffer.from('ffe00002', 'hex')],
  ['PNG', Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('000000004944415400000000', 'hex')],
  ['WebP', Buffer.from('RIFF....WEBP'), Buffer.from('VP8 \0\0\0\0')],
])('a %s is not turned by what comes after thousands of empty parts', (name, head, part) => {
  const whole = withExif(images[name]!, exifOf(6), size);
  const exif = whole.subarray(head.length);
  expect(orientationOf(Buffer.concat([head, Buffer.alloc(part.length * 1000, part), exif]))).toBe(6);
  expect(orientationOf(Buffer.concat([head, Buffer.alloc(part.length * 5000, part), exif]))).toBe(1);
});
