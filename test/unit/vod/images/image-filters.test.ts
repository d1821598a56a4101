import { expect, it } from 'vitest';
import type { ProbedStream } from '../../../../src/ffmpeg/media-tools.ts';
import { frameFormatOf, imageFilters } from '../../../../src/vod/images/image-filters.ts';

const stream = (facts: Partial<ProbedStream>): ProbedStream => ({
  index: 0,
  kind: 'video',
  codec: 'h264',
  isDefault: true,
  isCoverImage: false,
  ...facts,
});

it.each<[string, Partial<ProbedStream>, object]>([
  ['says that it is BT.709', { colorSpace: 'bt709', height: 240 }, { colorMatrix: 'bt709' }],
  ['says that it is BT.601', { colorSpace: 'smpte170m', height: 1080 }, { colorMatrix: 'bt601' }],
  ['is large and says nothing', { height: 720 }, { colorMatrix: 'bt709' }],
  ['is small and says nothing', { height: 576 }, { colorMatrix: 'bt601' }],
  ['is RGB', { height: 1080, pixelFormat: 'gbrp' }, { colorMatrix: 'bt601' }],
  ['is PQ', { colorTransfer: 'smpte2084' }, { toneMap: true }],
  ['is HLG', { colorTransfer: 'arib-std-b67' }, { toneMap: true }],
  ['is progressive', { fieldOrder: 'progressive' }, { isInterlaced: false }],
  ['is interlaced', { fieldOrder: 'tt' }, { isInterlaced: true }],
])('a stream that %s is taken as that', (_, facts, look) => {
  expect(frameFormatOf(stream(facts))).toMatchObject(look);
});

it('converts colors and deinterlaces only if needed', () => {
  const size = { fit: 'exactly', width: 160, height: 90 } as const;
  const plain = imageFilters(size, { colorMatrix: 'bt601' });
  expect(plain[0]).toBe('scale=w=160:h=90:flags=bicubic');
  expect(plain.join()).not.toMatch(/colormatrix|tonemap|field/);
  expect(imageFilters(size, {})).toContain('colormatrix=bt709:bt601');
  expect(imageFilters(size, { toneMap: true }).join()).not.toContain('colormatrix');
  expect(imageFilters(size, { isInterlaced: true })[0]).toBe('field=top');
});

it('contains no spaces, which the command builder would split', () => {
  const all = { toneMap: true, isInterlaced: true };
  expect(imageFilters({ fit: 'within', width: 1280, height: 1280 }, all).join()).not.toMatch(/\s/);
});
