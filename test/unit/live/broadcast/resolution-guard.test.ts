import { expect, test } from 'vitest';
import {
  isResolutionTooLarge,
  ResolutionGuard,
  resolutionTooLargeText,
} from '../../../../src/live/broadcast/resolution-guard.ts';
import { vp8Record } from '../../../../src/media/codecs/vp8.ts';
import { mediaOf, samples } from '../../../support/media-samples.ts';

/** x265's configuration of 3840x2160, and its sequence parameter set. */
const hevcSet = '420101016000000300900000030000030096a001e020021c5965654a4c2f0168080000030008000003000840';
const hevc = `01016000000090000000000096f000fcfdf8f800000f01a1000100${(hevcSet.length / 2).toString(16)}${hevcSet}`;
/** libaom's sequence header of 2560x1440. */
const av1Header = '0a0c00000062ea7fecfbb5f20080';

/** A tag of enhanced RTMP. */
function tag(packetType: number, fourCc: string, ...hex: string[]): Buffer {
  return Buffer.concat([
    Buffer.from([0x90 | packetType]),
    Buffer.from(fourCc, 'latin1'),
    Buffer.from(hex.join(''), 'hex'),
  ]);
}

const find = (guard: ResolutionGuard, body: Buffer) =>
  guard.find(mediaOf({ kind: 'video', timestampMs: 0, body }));
const setLength = (hevcSet.length / 2).toString(16).padStart(8, '0');

test.each([
  ['HEVC configuration', tag(0, 'hvc1', hevc), { width: 3840, height: 2160 }],
  ['an HEVC frame', tag(1, 'hvc1', '000000', setLength, hevcSet), { width: 3840, height: 2160 }],
  [
    'an HEVC frame without composition time',
    tag(3, 'hvc1', setLength, hevcSet),
    { width: 3840, height: 2160 },
  ],
  ['AV1 configuration', tag(0, 'av01', '810c0c00', av1Header), { width: 2560, height: 1440 }],
  ['an AV1 frame', tag(1, 'av01', '1200', av1Header), { width: 2560, height: 1440 }],
])('finds video that is too large in %s', (_, body, size) => {
  expect(find(new ResolutionGuard(1_000_000), body)).toEqual(size);
  expect(find(new ResolutionGuard(9_437_184), body)).toBeUndefined();
});

test('finds VP8 that is too large in its configuration and in keyframes', () => {
  const size = { width: 16_383, height: 16_383 };
  const record = vp8Record(size);
  const keyframe = Buffer.concat([Buffer.from([0x30, 0, 0]), record, Buffer.alloc(4)]);
  const guard = new ResolutionGuard(9_437_184);
  expect(guard.find(samples.videoConfig('vp08', record))).toEqual(size);
  expect(guard.find(samples.video('vp08', { dtsMs: 0, data: keyframe }))).toEqual(size);
});

test.each([
  [124_208, 16],
  [8, 2 ** 31],
])('finds %d columns of %d lines too large, which no MP4 can have, in whatever blocks', (width, height) => {
  for (const size of [
    { width, height },
    { width: height, height: width },
  ]) {
    expect(isResolutionTooLarge(size, 9_437_184)).toBe(true);
    expect(resolutionTooLargeText(size, 9_437_184)).toContain('up to 65535 pixels on each side');
  }
});

test('ignores cropping to whole blocks', () => {
  expect(isResolutionTooLarge({ width: 1920, height: 1088 }, 1920 * 1080)).toBe(false);
  expect(isResolutionTooLarge({ width: 2560, height: 1440 }, 1920 * 1080)).toBe(true);
});
