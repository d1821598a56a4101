import { describe, expect, test } from 'vitest';
import {
  codecsOf,
  formatLiveMultivariant,
  type VariantInfo,
} from '../../../../src/live/window/live-multivariant.ts';
import { parseMultivariantPlaylist } from '../../../../src/media/hls/multivariant-playlist.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

function variantOf(info: Partial<VariantInfo>) {
  const text = formatLiveMultivariant([
    {
      uri: 'li1/br1/source/index.m3u8',
      tracks: { video: videoTrack, audio: audioTrack },
      declared: undefined,
      frameSeconds: 0.04,
      peakBitsPerSecond: 1_000_000,
      averageBitsPerSecond: 800_000,
      ...info,
    },
  ]);
  return parseMultivariantPlaylist(text).variants[0]!;
}

const declared = { hasAudio: true, hasVideo: true, bitsPerSecond: undefined, framesPerSecond: undefined };

test('describes a stream with both tracks', () => {
  expect(variantOf({})).toMatchObject({
    uri: 'li1/br1/source/index.m3u8',
    bandwidthBitsPerSecond: 1_200_000,
    averageBandwidthBitsPerSecond: 800_000,
    codecs: `${videoTrack.codec},${audioTrack.codec}`,
    width: videoTrack.width,
    height: videoTrack.height,
    frameRate: 25,
    videoRange: 'SDR',
  });
});

test('audio alone has no video attributes', () => {
  const variant = variantOf({ tracks: { audio: audioTrack }, frameSeconds: 0.021 });
  expect(variant.codecs).toBe(audioTrack.codec);
  expect(variant).not.toHaveProperty('width');
  expect(variant).not.toHaveProperty('frameRate');
  expect(variant).not.toHaveProperty('videoRange');
});

test('a declared bit rate above the measured one counts', () => {
  const variant = variantOf({ declared: { ...declared, bitsPerSecond: 2_500_000 } });
  expect(variant.bandwidthBitsPerSecond).toBe(3_000_000);
});

describe('before a segment was measured', () => {
  const unmeasured = { peakBitsPerSecond: 0, averageBitsPerSecond: 0, estimatedBitsPerSecond: 900_000 };

  test('an estimate counts', () => {
    expect(variantOf(unmeasured)).toMatchObject({
      bandwidthBitsPerSecond: 1_080_000,
      averageBandwidthBitsPerSecond: 900_000,
    });
  });

  test('a declared bit rate counts instead', () => {
    const variant = variantOf({ ...unmeasured, declared: { ...declared, bitsPerSecond: 2_500_000 } });
    expect(variant.bandwidthBitsPerSecond).toBe(3_000_000);
  });

  test('the maximum of our encoder counts instead', () => {
    const variant = variantOf({ ...unmeasured, maxBitsPerSecond: 400_000 });
    expect(variant.bandwidthBitsPerSecond).toBe(600_000);
  });

  test('the estimate of separate audio is added', () => {
    const audioRendition = {
      uri: 'li1/br1/audio/index.m3u8',
      track: audioTrack,
      ...{ ...unmeasured, estimatedBitsPerSecond: 100_000 },
    };
    expect(variantOf({ ...unmeasured, audioRendition }).bandwidthBitsPerSecond).toBe(1_200_000);
  });
});

test.each([
  ['near what was seen is the truer one', 29.97, 0.0333, 29.97],
  ['far from what was seen is not believed', 60, 0.0333, 30.03],
  ['is taken while nothing was seen', 50, undefined, 50],
])('a declared frame rate that is %s', (_, framesPerSecond, frameSeconds, expected) => {
  const variant = variantOf({ declared: { ...declared, framesPerSecond }, frameSeconds });
  expect(variant.frameRate).toBeCloseTo(expected, 2);
});

test('CODECS has video first', () => {
  expect(codecsOf({ audio: audioTrack, video: videoTrack })).toBe(`${videoTrack.codec},${audioTrack.codec}`);
});
