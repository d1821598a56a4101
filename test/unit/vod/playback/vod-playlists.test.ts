import { describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import { parseMultivariantPlaylist } from '../../../../src/media/hls/multivariant-playlist.ts';
import type { OpenRendition } from '../../../../src/vod/index/rendition.ts';
import type { PlayableRendition } from '../../../../src/vod/playback/rendition-record.ts';
import {
  formatCaptionsPlaylist,
  formatVodMultivariant,
  formatVodPlaylist,
} from '../../../../src/vod/playback/vod-playlists.ts';

function rendition(kind: 'video' | 'audio', durations: readonly number[]): OpenRendition {
  return {
    renditionMetadata: {
      kind,
      codec: 'avc1.64001f',
      timescale: 1000,
      durationTicks: 0,
      bytes: 0,
      maxSegmentDurationSeconds: Math.max(...durations),
    },
    segmentCount: durations.length,
    init: Buffer.alloc(1),
    startSeconds: () => 0,
    durationSeconds: index => durations[index]!,
    readSegment: () => Promise.reject(new Error('nobody asks')),
    bitRates: () => ({ peakBitsPerSecond: 1, averageBitsPerSecond: 1 }),
  };
}

function video(name: string, bitsPerSecond: number, height: number): PlayableRendition {
  return {
    name,
    record: {
      generation: 1,
      kind: 'video',
      codec: 'avc1.64001f',
      width: height * 2,
      height,
      frameRate: 29.97003,
      videoRange: 'SDR',
      peakBitsPerSecond: bitsPerSecond,
      averageBitsPerSecond: bitsPerSecond / 2,
      durationSeconds: 10,
    },
  };
}

const audio: PlayableRendition = {
  name: 'audio',
  record: {
    generation: 1,
    kind: 'audio',
    codec: 'mp4a.40.2',
    channels: 2,
    peakBitsPerSecond: 100_000,
    averageBitsPerSecond: 90_000,
    durationSeconds: 10,
  },
};

describe('a media playlist', () => {
  test('of a complete rendition lists every segment and ends', () => {
    const text = formatVodPlaylist({
      rendition: rendition('video', [4, 4.004, 1.5]),
      generation: 12,
      targetDurationSeconds: 4,
      isComplete: true,
    });
    expect(text.split('\n')).toEqual([
      '#EXTM3U',
      '#EXT-X-VERSION:6',
      '#EXT-X-TARGETDURATION:4',
      '#EXT-X-PLAYLIST-TYPE:VOD',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-MEDIA-SEQUENCE:0',
      '#EXT-X-DISCONTINUITY-SEQUENCE:0',
      '#EXT-X-MAP:URI="init-12.mp4"',
      '#EXTINF:4.00000,',
      'video-12-0.m4s',
      '#EXTINF:4.00400,',
      'video-12-1.m4s',
      '#EXTINF:1.50000,',
      'video-12-2.m4s',
      '#EXT-X-ENDLIST',
      '',
    ]);
  });

  test('of a growing rendition is an EVENT playlist without an end', () => {
    const playlist = parseMediaPlaylist(
      formatVodPlaylist({
        rendition: rendition('audio', [4]),
        generation: 3,
        targetDurationSeconds: 6,
        isComplete: false,
      }),
    );
    expect(playlist).toMatchObject({ playlistType: 'EVENT', endList: false, targetDurationSeconds: 6 });
    expect(playlist.segments.map(({ uri }) => uri)).toEqual(['audio-3-0.m4s']);
  });

  test('carries a session in every URL', () => {
    const playlist = parseMediaPlaylist(
      formatVodPlaylist({
        rendition: rendition('video', [4]),
        generation: 1,
        targetDurationSeconds: 4,
        isComplete: true,
        avh: 'a+b&c',
      }),
    );
    expect(playlist.segments[0]).toMatchObject({
      uri: 'video-1-0.m4s?avh=a%2Bb%26c',
      map: { uri: 'init-1.mp4?avh=a%2Bb%26c' },
    });
  });
});

describe('a multivariant playlist', () => {
  test('has one variant per quality, all with the same audio and the sum of the bitrates', () => {
    const playlist = parseMultivariantPlaylist(
      formatVodMultivariant({ renditions: [video('240p', 400_000, 240), audio] }),
    );
    expect(playlist).toEqual({
      independentSegments: true,
      media: [
        {
          type: 'AUDIO',
          groupId: 'audio',
          name: 'Main',
          language: 'und',
          isDefault: true,
          isAutoselect: true,
          channels: 2,
          uri: 'audio/manifest.m3u8',
        },
      ],
      variants: [
        {
          uri: '240p/manifest.m3u8',
          bandwidthBitsPerSecond: 500_000,
          averageBandwidthBitsPerSecond: 290_000,
          codecs: 'avc1.64001f,mp4a.40.2',
          width: 480,
          height: 240,
          frameRate: 29.97,
          videoRange: 'SDR',
          audioGroup: 'audio',
        },
      ],
    });
  });

  test.each([
    [undefined, undefined, 'und'],
    ['ger', undefined, 'de'],
    [undefined, 'pt', 'pt'],
    ['eng', 'pt', 'pt'],
    ['"', undefined, 'und'],
  ])('has the language of the source, %s, unless the owner says %s', (language, chosen, tag) => {
    const record = { ...audio.record, ...(language === undefined ? {} : { language }) };
    const text = formatVodMultivariant({
      renditions: [video('240p', 400_000, 240), { ...audio, record }],
      language: chosen,
    });
    expect(parseMultivariantPlaylist(text).media[0]?.language).toBe(tag);
  });

  test('begins with the best variant up to 2 Mbit/s, followed by the others from the lowest', () => {
    const renditions = [
      video('1080p', 5_000_000, 1080),
      video('240p', 300_000, 240),
      audio,
      video('480p', 1_200_000, 480),
      video('720p', 3_000_000, 720),
    ];
    const { variants } = parseMultivariantPlaylist(formatVodMultivariant({ renditions }));
    expect(variants.map(({ uri }) => uri.split('/')[0])).toEqual(['480p', '240p', '720p', '1080p']);
  });

  test('of video without audio has no audio rendition', () => {
    const playlist = parseMultivariantPlaylist(
      formatVodMultivariant({ renditions: [video('720p', 9_000_000, 720)] }),
    );
    expect(playlist.media).toEqual([]);
    expect(playlist.variants).toMatchObject([{ codecs: 'avc1.64001f', bandwidthBitsPerSecond: 9_000_000 }]);
    expect(playlist.variants[0]?.audioGroup).toBeUndefined();
  });

  test('of audio only has it as its variant', () => {
    const playlist = parseMultivariantPlaylist(formatVodMultivariant({ renditions: [audio] }));
    expect(playlist).toEqual({
      independentSegments: true,
      media: [],
      variants: [
        {
          uri: 'audio/manifest.m3u8',
          bandwidthBitsPerSecond: 100_000,
          averageBandwidthBitsPerSecond: 90_000,
          codecs: 'mp4a.40.2',
        },
      ],
    });
  });

  test('carries a session in every URL', () => {
    const captions = [{ language: 'fr', label: 'Français', isDefault: false }];
    const text = formatVodMultivariant({
      renditions: [video('720p', 2, 720), audio],
      captions,
      avh: 'token',
    });
    expect(text.match(/manifest\.m3u8\?avh=token/g)).toHaveLength(2);
    expect(text).toContain('URI="captions/fr.m3u8?avh=token"');
  });

  test('lists captions as subtitles of every variant, with unique names and at most one default', () => {
    const captions = [
      { language: 'fr', label: 'Français', isDefault: true },
      { language: 'fra', label: 'Français', isDefault: true },
    ];
    const { media, variants } = parseMultivariantPlaylist(
      formatVodMultivariant({ renditions: [video('240p', 2, 240), video('720p', 4, 720), audio], captions }),
    );
    const subtitles = { type: 'SUBTITLES', groupId: 'captions', isAutoselect: true };
    expect(media.slice(1)).toEqual([
      { ...subtitles, name: 'Français', language: 'fr', isDefault: true, uri: 'captions/fr.m3u8' },
      { ...subtitles, name: 'Français (fra)', language: 'fra', uri: 'captions/fra.m3u8' },
    ]);
    expect(variants.map(({ subtitlesGroup }) => subtitlesGroup)).toEqual(['captions', 'captions']);
  });
});

test('a playlist of captions has the uploaded file as its only segment, as long as the video', () => {
  const playlist = parseMediaPlaylist(formatCaptionsPlaylist('fr-CA', 61.25, 'token'));
  expect(playlist).toMatchObject({ targetDurationSeconds: 62, playlistType: 'VOD', endList: true });
  expect(playlist.segments).toMatchObject([
    { uri: '../../captions/fr-CA.vtt?avh=token', durationSeconds: 61.25 },
  ]);
});

describe('renditions in several codecs', () => {
  const inCodec = (codec: 'hevc' | 'av1', name: string, bitsPerSecond: number): PlayableRendition => {
    const { record } = video(name, bitsPerSecond, 720);
    return {
      name: `${codec}-${name}`,
      codec,
      record: { ...record, codec: codec === 'hevc' ? 'hvc1' : 'av01' },
    };
  };

  test('begin with H.264, and each has its score', () => {
    const { variants } = parseMultivariantPlaylist(
      formatVodMultivariant({
        renditions: [
          inCodec('av1', '240p', 150_000),
          inCodec('hevc', '720p', 900_000),
          video('720p', 3_000_000, 720),
          video('240p', 400_000, 240),
          inCodec('av1', '720p', 700_000),
          inCodec('hevc', '240p', 200_000),
          audio,
        ],
      }),
    );
    expect(variants.map(({ uri, score, codecs }) => `${uri.split('/')[0]} ${score} ${codecs}`)).toEqual([
      '240p 1 avc1.64001f,mp4a.40.2',
      '720p 4 avc1.64001f,mp4a.40.2',
      'hevc-240p 1.333 hvc1,mp4a.40.2',
      'hevc-720p 4.333 hvc1,mp4a.40.2',
      'av1-240p 1.667 av01,mp4a.40.2',
      'av1-720p 4.667 av01,mp4a.40.2',
    ]);
  });

  test('have no score without another codec', () => {
    const text = formatVodMultivariant({ renditions: [video('240p', 400_000, 240)] });
    expect(text).not.toContain('SCORE');
  });
});
