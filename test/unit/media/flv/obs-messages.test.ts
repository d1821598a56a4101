import { describe, expect, test } from 'vitest';
import { writeVideoSampleEntry } from '../../../../src/media/cmaf/sample-entry-writer.ts';
import { readColorInfo } from '../../../../src/media/flv/color-info.ts';
import {
  compositionOffsetMs,
  describeVideoTag,
  videoHeaderBytes,
} from '../../../../src/media/flv/flv-tag.ts';
import { type AmfValue, encodeAmf0 } from '../../../../src/media/rtmp/amf0.ts';
import { Random } from '../../../support/random.ts';

const hevc = Buffer.from('hvc1');
const av1 = Buffer.from('av01');
const message = (first: number, fourCc: Buffer, ...rest: number[]) =>
  Buffer.concat([Buffer.of(first), fourCc, Buffer.from(rest)]);

/** BT.2020 with PQ, mastered on a display with P3 colours of 1000 cd/m2. */
const colorInfo = {
  colorConfig: { bitDepth: 10, colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9 },
  hdrCll: { maxFall: 400, maxCLL: 1000 },
  hdrMdcv: {
    redX: 0.68,
    redY: 0.32,
    greenX: 0.265,
    greenY: 0.69,
    blueX: 0.15,
    blueY: 0.06,
    whitePointX: 0.3127,
    whitePointY: 0.329,
    maxLuminance: 1000,
    minLuminance: 0.0001,
  },
};
const metadataOf = (info: AmfValue) => Buffer.concat([message(0x84, hevc), encodeAmf0('colorInfo', info)]);
const metadata = metadataOf(colorInfo);

/** OBS 30 and newer: a configuration, the colours of HDR, frames without and with a composition time, and an end. */
describe('the messages of OBS', () => {
  test.each([
    ['HEVC', [message(0x90, hevc, 1, 2, 3), 'config', 5, 0]],
    ['HEVC', [metadata, 'other', 5, 0]],
    ['HEVC', [message(0x93, hevc, 0, 0, 0, 1, 0x26), 'keyframe', 5, 0]],
    ['HEVC', [message(0xa1, hevc, 0, 0, 33, 0, 0, 0, 1, 2), 'frame', 8, 33]],
    ['HEVC', [message(0xa3, hevc, 0, 0, 0, 1, 2), 'frame', 5, 0]],
    ['HEVC', [message(0x92, hevc), 'other', 5, 0]],
    ['AV1', [message(0x90, av1, 0x81, 5, 12, 0), 'config', 5, 0]],
    ['AV1', [message(0x91, av1, 0x12, 0, 0x0a), 'keyframe', 5, 0]],
    ['AV1', [message(0xa1, av1, 0x12, 0, 0x32), 'frame', 5, 0]],
    ['AV1', [message(0x92, av1), 'other', 5, 0]],
  ] as const)('%s (%#)', (name, [body, role, header, offsetMs]) => {
    expect(describeVideoTag(body)).toMatchObject({ codec: { name, isEnhanced: true }, role });
    if (role === 'other') return;
    expect(videoHeaderBytes(body)).toBe(header);
    expect(compositionOffsetMs(body)).toBe(offsetMs);
  });
});

describe('the colours of HDR', () => {
  test('are read, and written beside the configuration', () => {
    const declared = readColorInfo(metadata)!;
    expect(declared).toEqual({
      colour: { primaries: 9, transfer: 16, matrix: 9 },
      masteringDisplay: {
        chromaticities: [
          [0.265, 0.69],
          [0.15, 0.06],
          [0.68, 0.32],
          [0.3127, 0.329],
        ],
        maxLuminance: 1000,
        minLuminance: 0.0001,
      },
      contentLight: { max: 1000, maxFrameAverage: 400 },
    });
    const entry = writeVideoSampleEntry('hev1', Buffer.of(1), { size: { width: 16, height: 16 } }, declared);
    const text = entry.toString('hex');
    expect(text).toContain(`${hexOf('colr')}${hexOf('nclx')}00090010000900`);
    // The example of ITU-T H.265 for P3.
    expect(text).toContain(`${hexOf('mdcv')}33c286c41d4c0bb884d03e803d13404200989680${'00000001'}`);
    expect(text).toContain(`${hexOf('clli')}03e80190`);
  });

  test('of the configuration win, and parts that are invalid are left out', () => {
    const colour = { primaries: 1, transfer: 1, matrix: 1, isFullRange: false };
    const entry = writeVideoSampleEntry(
      'hev1',
      Buffer.of(1),
      { size: { width: 16, height: 16 }, colour },
      readColorInfo(metadata),
    );
    expect(entry.toString('hex')).toContain(`${hexOf('nclx')}00010001000100`);
    const invalid = {
      colorConfig: { colorPrimaries: 900 },
      hdrMdcv: { redX: -1 },
      hdrCll: { maxCLL: 1e9, maxFall: 1 },
    };
    expect(readColorInfo(metadataOf(invalid))).toEqual({});
    expect(readColorInfo(message(0x90, hevc, 1))).toBeUndefined();
    expect(readColorInfo(Buffer.concat([message(0x84, hevc), encodeAmf0('other', {})]))).toBeUndefined();
  });

  test('of random bytes end nothing', () => {
    const random = new Random(16);
    for (let round = 0; round < 3000; round++) {
      const broken = Buffer.from(metadata);
      for (let left = 1 + random.below(6); left > 0; left--)
        broken[5 + random.below(broken.length - 5)] = random.below(256);
      const declared = readColorInfo(broken.subarray(0, 5 + random.below(broken.length)));
      writeVideoSampleEntry('hev1', Buffer.of(1), { size: { width: 16, height: 16 } }, declared);
    }
  });
});

function hexOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}
