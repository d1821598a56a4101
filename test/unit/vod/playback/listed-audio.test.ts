import { describe, expect, test } from 'vitest';
import {
  formatMultivariantPlaylist,
  parseMultivariantPlaylist,
} from '../../../../src/media/hls/multivariant-playlist.ts';
import type { AudioTrack } from '../../../../src/vod/encoding-repository.ts';
import { listedAudio } from '../../../../src/vod/playback/listed-audio.ts';
import type { PlayableRendition } from '../../../../src/vod/playback/rendition-record.ts';
import { formatVodMultivariant } from '../../../../src/vod/playback/vod-playlists.ts';

function audio(name: string, values: Partial<PlayableRendition['record']> = {}): PlayableRendition {
  return {
    name,
    record: {
      generation: 1,
      kind: 'audio',
      codec: 'mp4a.40.2',
      channels: 2,
      durationSeconds: 10,
      peakBitsPerSecond: 100_000,
      averageBitsPerSecond: 90_000,
      ...values,
    },
  };
}

const video: PlayableRendition = {
  name: '720p',
  record: {
    generation: 1,
    kind: 'video',
    codec: 'avc1.64001f',
    width: 1280,
    height: 720,
    durationSeconds: 10,
    peakBitsPerSecond: 1_000_000,
    averageBitsPerSecond: 800_000,
  },
};

function track(number: number, values: Partial<AudioTrack> = {}): AudioTrack {
  return { track: number, isDefault: number === 1, ...values };
}

function listed(
  renditions: readonly PlayableRendition[],
  tracks: readonly AudioTrack[],
  videoLanguage?: string,
) {
  return listedAudio(renditions, tracks, videoLanguage).map(({ stereo, surround, ...rest }) => ({
    id: (stereo ?? surround)?.name,
    ...rest,
  }));
}

describe('audio renditions of a playlist', () => {
  test('are named after their titles, or else their languages, in the order of the tracks', () => {
    const renditions = [audio('audio'), audio('audio2'), audio('audio3')];
    const tracks = [track(2, { language: 'fr' }), track(1, { language: 'en', name: 'Original' }), track(3)];
    expect(listed(renditions, tracks)).toEqual([
      { id: 'audio2', name: 'Français', language: 'fr', isDefault: false, isAutoselect: true },
      { id: 'audio', name: 'Original', language: 'en', isDefault: true, isAutoselect: true },
      { id: 'audio3', name: 'Audio 3', language: 'und', isDefault: false, isAutoselect: true },
    ]);
  });

  test('of one language: one can be selected automatically, and the names differ', () => {
    const renditions = [audio('audio'), audio('audio2'), audio('audio3')];
    const tracks = [1, 2, 3].map(number => track(number, { language: 'en', isDescription: number === 3 }));
    expect(listed(renditions, tracks).map(({ name, isAutoselect }) => [name, isAutoselect])).toEqual([
      ['English', true],
      ['English (2)', false],
      ['English (3)', true],
    ]);
    expect(listed(renditions, tracks)[2]?.characteristics).toBe('public.accessibility.describes-video');
  });

  test('have 5.1 in a group of its own, which has the same tracks', () => {
    const renditions = [
      ...[audio('audio'), audio('audio2'), audio('surround2', { channels: 6, peakBitsPerSecond: 400_000 })],
    ];
    const tracks = [track(1, { language: 'de' }), track(2, { language: 'en' })];
    const text = formatVodMultivariant({ renditions: [video, ...renditions], audioTracks: tracks });
    const { media, variants } = parseMultivariantPlaylist(text);
    expect(
      media.map(({ groupId, name, channels, isDefault = false, uri }) => [
        ...[groupId, name, channels, isDefault, uri?.split('/')[0]],
      ]),
    ).toEqual([
      ['audio', 'Deutsch', 2, true, 'audio'],
      ['audio', 'English', 2, false, 'audio2'],
      ['audio', 'English 5.1', 6, false, 'surround2'],
      ['surround', 'Deutsch', 2, true, 'audio'],
      ['surround', 'English', 6, false, 'surround2'],
      ['surround', 'English 5.1', 6, false, 'surround2'],
    ]);
    // Equal, so that hls.js takes them as one quality.
    const equal = { uri: '720p/manifest.m3u8', bandwidthBitsPerSecond: 1_400_000 };
    expect(variants).toMatchObject([
      { ...equal, audioGroup: 'audio', codecs: 'avc1.64001f,mp4a.40.2' },
      { ...equal, audioGroup: 'surround', codecs: 'avc1.64001f,mp4a.40.2' },
    ]);
  });

  test('alone have 5.1 behind its stereo', () => {
    const renditions = [audio('audio'), audio('surround', { channels: 6 })];
    const { media, variants } = parseMultivariantPlaylist(formatVodMultivariant({ renditions }));
    expect(media.map(({ name, isDefault = false }) => [name, isDefault])).toEqual([
      ['Main', true],
      ['Main 5.1', false],
    ]);
    expect(variants).toMatchObject([{ uri: 'audio/manifest.m3u8', audioGroup: 'audio' }]);
  });

  test('use the language of the video for a single track, and for a first one without a language', () => {
    const [single] = listed([audio('audio', { language: 'ger' })], [], 'fr');
    expect([single?.language, single?.name]).toEqual(['fr', 'Main']);
    const both = [audio('audio'), audio('audio2', { language: 'ger' })];
    expect(listed(both, [], 'fr').map(({ language }) => language)).toEqual(['fr', 'de']);
    const known = [track(1, { language: 'en' }), track(2)];
    expect(listed(both, known, 'fr').map(({ language }) => language)).toEqual(['en', 'de']);
  });

  test('have another default while the chosen one is not playable', () => {
    const tracks = [track(1, { isDefault: false }), track(2, { isDefault: true })];
    expect(listed([audio('audio')], tracks)[0]?.isDefault).toBe(true);
    expect(listed([audio('audio'), audio('audio2')], tracks).map(({ isDefault }) => isDefault)).toEqual([
      false,
      true,
    ]);
  });

  test('of audio only are listed if there is a choice', () => {
    const renditions = [audio('audio'), audio('audio2')];
    const playlist = parseMultivariantPlaylist(formatVodMultivariant({ renditions }));
    expect(playlist.media.map(({ uri }) => uri)).toEqual(['audio/manifest.m3u8', 'audio2/manifest.m3u8']);
    expect(playlist.variants).toMatchObject([{ uri: 'audio/manifest.m3u8', audioGroup: 'audio' }]);
    const single = parseMultivariantPlaylist(formatVodMultivariant({ renditions: [audio('audio')] }));
    expect(single).toMatchObject({ media: [], variants: [{ uri: 'audio/manifest.m3u8' }] });
  });

  test('are read back with their characteristics', () => {
    const media = [
      {
        ...({ type: 'AUDIO', groupId: 'a', name: 'Description', channels: 2, uri: 'a.m3u8' } as const),
        characteristics: 'public.accessibility.describes-video',
      },
    ];
    const text = formatMultivariantPlaylist({ independentSegments: true, media, variants: [] });
    expect(parseMultivariantPlaylist(text).media).toEqual(media);
  });
});
