import { describe, expect, test } from 'vitest';
import {
  formatMultivariantPlaylist,
  type MultivariantPlaylist,
  parseMultivariantPlaylist,
} from '../../../../src/media/hls/multivariant-playlist.ts';
import { AppError } from '../../../../src/shared/errors.ts';
import { Random } from '../../../support/random.ts';
import { mutateText } from './mutate-text.ts';

/** Value and text; each gives the other. */
const table: [name: string, value: MultivariantPlaylist, text: string][] = [
  ['nothing', { independentSegments: false, media: [], variants: [] }, '#EXTM3U\n'],
  [
    'one rendition with sound inside',
    {
      independentSegments: true,
      media: [],
      variants: [
        {
          uri: 'source/index.m3u8',
          bandwidthBitsPerSecond: 3_000_000,
          averageBandwidthBitsPerSecond: 2_500_000,
          codecs: 'avc1.64001f,mp4a.40.2',
          width: 1280,
          height: 720,
          frameRate: 29.97,
          videoRange: 'SDR',
        },
      ],
    },
    `#EXTM3U
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-STREAM-INF:BANDWIDTH=3000000,AVERAGE-BANDWIDTH=2500000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=29.970,VIDEO-RANGE=SDR
source/index.m3u8
`,
  ],
  [
    'two renditions, HDR, with two languages beside them',
    {
      independentSegments: false,
      media: [
        {
          type: 'AUDIO',
          groupId: 'sound',
          name: 'English',
          language: 'en',
          isDefault: true,
          isAutoselect: true,
          channels: 2,
          uri: 'en/index.m3u8',
        },
        {
          type: 'AUDIO',
          groupId: 'sound',
          name: 'Français',
          language: 'fr',
          isAutoselect: true,
          uri: 'fr/index.m3u8',
        },
        { type: 'AUDIO', groupId: 'sound', name: 'Commentary' },
      ],
      variants: [
        {
          uri: 'hd.m3u8',
          bandwidthBitsPerSecond: 6_000_000,
          codecs: 'hvc1.2.4.L120.90,mp4a.40.2',
          width: 1920,
          height: 1080,
          frameRate: 50,
          videoRange: 'HLG',
          audioGroup: 'sound',
        },
        { uri: 'audio.m3u8', bandwidthBitsPerSecond: 130_000, codecs: 'mp4a.40.2', audioGroup: 'sound' },
      ],
    },
    `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="en/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Français",LANGUAGE="fr",AUTOSELECT=YES,URI="fr/index.m3u8"
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="Commentary"
#EXT-X-STREAM-INF:BANDWIDTH=6000000,CODECS="hvc1.2.4.L120.90,mp4a.40.2",RESOLUTION=1920x1080,FRAME-RATE=50.000,VIDEO-RANGE=HLG,AUDIO="sound"
hd.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=130000,CODECS="mp4a.40.2",AUDIO="sound"
audio.m3u8
`,
  ],
];

describe('a playlist is written and read back', () => {
  test.each(table)('%s', (_, value, text) => {
    expect(formatMultivariantPlaylist(value)).toBe(text);
    expect(parseMultivariantPlaylist(text)).toEqual(value);
  });
});

describe('writing', () => {
  const variant = { uri: 'a.m3u8', bandwidthBitsPerSecond: 1, codecs: 'avc1.64001f' };
  const write = (change: object, media: MultivariantPlaylist['media'] = []) =>
    formatMultivariantPlaylist({ independentSegments: false, media, variants: [{ ...variant, ...change }] });

  test('a default rendition may always be selected by the player', () => {
    expect(write({}, [{ type: 'AUDIO', groupId: 'g', name: 'n', isDefault: true }])).toContain(
      'DEFAULT=YES,AUTOSELECT=YES',
    );
  });

  test.each([
    [
      'a fraction of a bit',
      { bandwidthBitsPerSecond: 1.5 },
      '1.5 is no integer of at least 1 for a playlist',
    ],
    ['no codec', { codecs: '' }, '"" cannot be quoted in a playlist'],
    ['half a size', { width: 640 }, 'a picture has a width and a height'],
    ['a frame rate of nothing', { frameRate: Number.NaN }, 'NaN cannot stand in a playlist'],
    ['a group without renditions', { audioGroup: 'g' }, 'no AUDIO rendition is in the group g'],
    ['subtitles that are not there', { subtitlesGroup: 'g' }, 'no SUBTITLES rendition is in the group g'],
    ['no URI', { uri: '' }, '"" cannot be a line of a playlist'],
  ])('%s is refused', (_, change, message) => {
    expect(() => write(change)).toThrow(expect.objectContaining({ code: 'server-error', message }));
  });
});

describe('reading', () => {
  const inf = '#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="avc1.64001f"';

  test('what has no field here is passed over', () => {
    const text = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="s",NAME="n"
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
${inf},VIDEO="s",CLOSED-CAPTIONS=NONE,X-SCORE=1.5
a.m3u8
`;
    expect(parseMultivariantPlaylist(text)).toEqual({
      independentSegments: false,
      media: [],
      variants: [{ uri: 'a.m3u8', bandwidthBitsPerSecond: 1, codecs: 'avc1.64001f' }],
    });
  });

  test('closed captions are read as they are written', () => {
    const playlist: MultivariantPlaylist = {
      independentSegments: false,
      media: [{ type: 'CLOSED-CAPTIONS', groupId: 'cc', name: 'English', instreamId: 'CC1' }],
      variants: [
        { uri: 'v.m3u8', bandwidthBitsPerSecond: 1, codecs: 'avc1.64001f', closedCaptionsGroup: 'cc' },
      ],
    };
    const text = formatMultivariantPlaylist(playlist);
    expect(parseMultivariantPlaylist(text)).toEqual(playlist);
    expect(() => parseMultivariantPlaylist(text.replace('"CC1"', '"CC5"'))).toThrow(/INSTREAM-ID/);
    const [media] = playlist.media;
    for (const change of [{ uri: 'a.m3u8' }, { instreamId: 'SERVICE64' }]) {
      expect(() => formatMultivariantPlaylist({ ...playlist, media: [{ ...media!, ...change }] })).toThrow(
        /closed captions/,
      );
    }
  });

  test('subtitles are read as they are written, beside sound of a group of the same name', () => {
    const playlist: MultivariantPlaylist = {
      independentSegments: false,
      media: [
        { type: 'AUDIO', groupId: 'g', name: 'Main', uri: 'a.m3u8' },
        {
          type: 'SUBTITLES',
          groupId: 'g',
          name: 'Français',
          language: 'fr',
          isAutoselect: true,
          uri: 's.m3u8',
        },
      ],
      variants: [
        {
          uri: 'v.m3u8',
          bandwidthBitsPerSecond: 1,
          codecs: 'avc1.64001f',
          audioGroup: 'g',
          subtitlesGroup: 'g',
        },
      ],
    };
    expect(parseMultivariantPlaylist(formatMultivariantPlaylist(playlist))).toEqual(playlist);
  });

  test('channels are counted before the slash', () => {
    const text = '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="n",CHANNELS="16/JOC"\n';
    expect(parseMultivariantPlaylist(text).media[0]?.channels).toBe(16);
  });

  const media = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="n"';
  test.each([
    ['no header', `${inf}\na\n`, `line 1: expected #EXTM3U, found "${inf}"`],
    [
      'the other kind',
      '#EXTM3U\n#EXT-X-TARGETDURATION:2\n',
      'line 2: expected a multivariant playlist, found "EXT-X-TARGETDURATION"',
    ],
    ['a lone URI', '#EXTM3U\na.m3u8\n', 'line 2: expected EXT-X-STREAM-INF before a URI, found "a.m3u8"'],
    ['a lone variant', `#EXTM3U\n${inf}\n`, 'line 2: expected a URI after EXT-X-STREAM-INF'],
    [
      'a tag between',
      `#EXTM3U\n${inf}\n${inf}\na\n`,
      'line 3: expected a URI after EXT-X-STREAM-INF, found "EXT-X-STREAM-INF"',
    ],
    ['a control character', `#EXTM3U\n${inf}\na\tb\n`, 'line 3: expected a URI, found "a\tb"'],
    [
      'no bandwidth',
      '#EXTM3U\n#EXT-X-STREAM-INF:CODECS="a"\n',
      'line 2: expected BANDWIDTH in EXT-X-STREAM-INF',
    ],
    [
      'no codecs',
      '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n',
      'line 2: expected CODECS="..." in EXT-X-STREAM-INF',
    ],
    [
      'a bad size',
      `#EXTM3U\n${inf},RESOLUTION=0x1\n`,
      'line 2: expected WIDTHxHEIGHT for RESOLUTION, found "0x1"',
    ],
    [
      'a bad rate',
      `#EXTM3U\n${inf},FRAME-RATE=1e3\n`,
      'line 2: expected a decimal number for FRAME-RATE in EXT-X-STREAM-INF, found "1e3"',
    ],
    [
      'another range',
      `#EXTM3U\n${inf},VIDEO-RANGE=HDR\n`,
      'line 2: expected VIDEO-RANGE=SDR|HLG|PQ in EXT-X-STREAM-INF, found "HDR"',
    ],
    ['an unknown group', `#EXTM3U\n${inf},AUDIO="x"\na\n`, 'line 2: expected EXT-X-MEDIA with GROUP-ID="x"'],
    [
      'a rendition of no type',
      '#EXTM3U\n#EXT-X-MEDIA:GROUP-ID="g",NAME="n"\n',
      'line 2: expected TYPE=AUDIO|SUBTITLES|CLOSED-CAPTIONS in EXT-X-MEDIA',
    ],
    [
      'a rendition without name',
      '#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g"\n',
      'line 2: expected NAME="..." in EXT-X-MEDIA',
    ],
    [
      'a default for no player',
      `#EXTM3U\n${media},DEFAULT=YES,AUTOSELECT=NO\n`,
      'line 2: expected AUTOSELECT=YES beside DEFAULT=YES',
    ],
    [
      'odd channels',
      `#EXTM3U\n${media},CHANNELS="stereo"\n`,
      'line 2: expected a number of channels for CHANNELS, found "stereo"',
    ],
  ])('%s is refused', (_, text, message) => {
    expect(() => parseMultivariantPlaylist(text)).toThrow(
      expect.objectContaining({ code: 'playlist-malformed', message }),
    );
  });
});

describe('mutated playlists', () => {
  test.each(table.slice(1).map(([name, , text], index) => [name, text, index + 1] as const))(
    '%s',
    (_, text, seed) => {
      const random = new Random(seed);
      let read = 0;
      for (let count = 0; count < 2000; count++) {
        const mutated = mutateText(text, random);
        let value: MultivariantPlaylist;
        try {
          value = parseMultivariantPlaylist(mutated);
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'playlist-malformed') throw error;
          expect(error.message).toMatch(/^line \d+: expected /);
          continue;
        }
        read += 1;
        const written = formatMultivariantPlaylist(value);
        expect(formatMultivariantPlaylist(parseMultivariantPlaylist(written))).toBe(written);
      }
      expect(read).toBeGreaterThan(100);
      expect(read).toBeLessThan(2000);
    },
  );
});
