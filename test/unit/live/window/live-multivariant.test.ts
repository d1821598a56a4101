import { describe, expect, test } from 'vitest';
import {
  type AudioInfo,
  codecsOf,
  formatLiveMultivariant,
  type VariantInfo,
} from '../../../../src/live/window/live-multivariant.ts';
import { parseMultivariantPlaylist } from '../../../../src/media/hls/multivariant-playlist.ts';
import { audioTrack, videoTrack } from '../../../support/recording-sink.ts';

function playlistOf(info: Partial<VariantInfo>, audio: readonly AudioInfo[] = []) {
  const variant: VariantInfo = {
    uri: 'li1/br1/source/index.m3u8',
    tracks: { video: videoTrack, audio: audioTrack },
    declared: undefined,
    frameSeconds: 0.04,
    peakBitsPerSecond: 1_000_000,
    averageBitsPerSecond: 800_000,
    ...info,
  };
  return parseMultivariantPlaylist(formatLiveMultivariant([variant], audio));
}

function variantOf(...args: Parameters<typeof playlistOf>) {
  return playlistOf(...args).variants[0]!;
}

function audioInfo(info: Partial<AudioInfo> = {}): AudioInfo {
  const rates = { peakBitsPerSecond: 128_000, averageBitsPerSecond: 120_000 };
  return {
    uri: 'audio/index.m3u8',
    groupId: 'audio',
    trackId: 0,
    track: audioTrack,
    ...rates,
    ...info,
  };
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
  expect(variant.frameRate).toBeUndefined();
  expect(variant.videoRange).toBeUndefined();
});

test('a declared bit rate above the measured one counts', () => {
  const variant = variantOf({ declared: { ...declared, bitsPerSecond: 2_500_000 } });
  expect(variant.bandwidthBitsPerSecond).toBe(3_000_000);
});

test('the segments before the first one count without headroom, also with our encoder', () => {
  const bandwidthOf = (info: Partial<VariantInfo>) => variantOf(info).bandwidthBitsPerSecond;
  expect(bandwidthOf({ leadInBitsPerSecond: 1_100_000 })).toBe(1_200_000);
  expect(bandwidthOf({ leadInBitsPerSecond: 1_300_000 })).toBe(1_300_000);
  expect(bandwidthOf({ leadInBitsPerSecond: 1_700_000, maxBitsPerSecond: 1_000_000 })).toBe(1_700_000);
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
    const audio = audioInfo({ ...unmeasured, estimatedBitsPerSecond: 100_000 });
    expect(variantOf(unmeasured, [audio]).bandwidthBitsPerSecond).toBe(1_200_000);
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

test('captions of CEA-708 are listed before those of CEA-608, which are selected', () => {
  const variant = {
    uri: 'index.m3u8',
    tracks: { video: videoTrack },
    declared: undefined,
    frameSeconds: 0.04,
  };
  const rates = { peakBitsPerSecond: 1_000_000, averageBitsPerSecond: 900_000 };
  const { media } = parseMultivariantPlaylist(
    formatLiveMultivariant([{ ...variant, ...rates }], [], ['CC1', 'CC3', 'SERVICE1', 'SERVICE2']),
  );
  expect(media.map(({ instreamId, name, isAutoselect = false }) => [instreamId, name, isAutoselect])).toEqual(
    [
      ['SERVICE1', 'Captions (CEA-708)', false],
      ['SERVICE2', 'Captions 2 (CEA-708)', false],
      ['CC1', 'Captions', true],
      ['CC3', 'Captions 2', false],
    ],
  );
});

describe('several audio tracks', () => {
  const video = { tracks: { video: videoTrack } };

  test('are one group, whose highest bit rate counts', () => {
    const surround = { ...audioTrack, channels: 6 };
    const { media, variants } = playlistOf(video, [
      audioInfo(),
      audioInfo({ uri: 'audio-1/index.m3u8', trackId: 1, track: surround, peakBitsPerSecond: 400_000 }),
    ]);
    expect(media).toMatchObject([
      { type: 'AUDIO', groupId: 'audio', name: 'Audio 1', isDefault: true, uri: 'audio/index.m3u8' },
      { type: 'AUDIO', groupId: 'audio', name: 'Audio 2', channels: 6, uri: 'audio-1/index.m3u8' },
    ]);
    expect(media[1]).not.toHaveProperty('isDefault');
    expect(variants).toMatchObject([
      {
        audioGroup: 'audio',
        bandwidthBitsPerSecond: 1_680_000,
        codecs: `${videoTrack.codec},${audioTrack.codec}`,
      },
    ]);
  });

  test('have the names and languages of their labels, each name once and one track of a language for players to select', () => {
    const labels = [
      { language: 'eng' },
      { name: 'Commentary "live"', language: 'en' },
      { language: 'fra' },
      {},
    ];
    const { media } = playlistOf(
      video,
      [...labels, { language: 'de', name: 'English' }].map((label, trackId) => audioInfo({ trackId, label })),
    );
    expect(media.map(({ name, language, isAutoselect = false }) => [name, language, isAutoselect])).toEqual([
      ['English', 'en', true],
      ['Commentary ”live”', 'en', false],
      ['Français', 'fr', true],
      ['Audio 4', 'und', true],
      ['English (5)', 'de', true],
    ]);
  });

  test('have the order and the default that their owner chose', () => {
    const labels = [{ language: 'en', position: 2 }, { language: 'fr', position: 3 }, { language: 'en' }];
    const chosen = labels.map((label, trackId) =>
      audioInfo({ trackId, label: trackId === 2 ? { ...label, position: 1, default: true } : label }),
    );
    const { media } = playlistOf(video, chosen);
    expect(
      media.map(({ name, isDefault = false, isAutoselect = false }) => [name, isDefault, isAutoselect]),
    ).toEqual([
      ['English', true, true],
      ['English (1)', false, false],
      ['Français', false, true],
    ]);
  });

  test('in two codecs are in both groups', () => {
    const opus = { ...audioTrack, codec: 'opus' };
    const second = audioInfo({ uri: 'audio-1/index.m3u8', trackId: 1 });
    const { media, variants } = playlistOf(video, [
      audioInfo(),
      audioInfo({ track: opus, uri: 'audio-original/index.m3u8', groupId: 'audio-original' }),
      second,
    ]);
    expect(media.map(({ groupId, name, uri }) => [groupId, name, uri?.split('/')[0]])).toEqual([
      ['audio', 'Audio 1', 'audio'],
      ['audio', 'Audio 2', 'audio-1'],
      ['audio-original', 'Audio 1', 'audio-original'],
      ['audio-original', 'Audio 2', 'audio-1'],
    ]);
    expect(variants.map(({ codecs }) => codecs.split(',').slice(1))).toEqual([
      [audioTrack.codec],
      ['opus', audioTrack.codec],
    ]);
  });

  test('are listed with every variant once for each codec', () => {
    const opus = { ...audioTrack, codec: 'opus' };
    const { media, variants } = playlistOf(video, [
      audioInfo({ track: opus }),
      audioInfo({ uri: 'audio-aac/index.m3u8', groupId: 'audio-aac' }),
    ]);
    expect(media.map(({ groupId, name }) => [groupId, name])).toEqual([
      ['audio', 'Main'],
      ['audio-aac', 'Main'],
    ]);
    expect(variants.map(({ audioGroup, codecs }) => [audioGroup, codecs])).toEqual([
      ['audio', `${videoTrack.codec},opus`],
      ['audio-aac', `${videoTrack.codec},${audioTrack.codec}`],
    ]);
  });
});
