import { describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import { formatMediaPlaylist } from '../../../../src/media/hls/format-media-playlist.ts';
import type { MediaPlaylist } from '../../../../src/media/hls/media-playlist.ts';
import { AppError } from '../../../../src/shared/errors.ts';
import { Random } from '../../../support/random.ts';
import { mutateText } from './mutate-text.ts';

const noon = Date.UTC(2026, 10, 20, 12);

const empty: MediaPlaylist = {
  targetDurationSeconds: 2,
  mediaSequence: 0,
  discontinuitySequence: 0,
  independentSegments: false,
  segments: [],
  preloadHints: [],
  renditionReports: [],
  endList: false,
};

const lowLatency: MediaPlaylist = {
  ...empty,
  mediaSequence: 41,
  discontinuitySequence: 3,
  independentSegments: true,
  serverControl: {
    canBlockReload: true,
    partHoldBackSeconds: 0.6,
    holdBackSeconds: 6,
    canSkipUntilSeconds: 12,
  },
  partTargetSeconds: 0.2,
};

const init1 = { uri: 'init-1.mp4' };
const init2 = { uri: 'init-2.mp4' };

/** Value, the version its text gets, and its text. Read back, the text gives the value with that version. */
const table: [name: string, value: MediaPlaylist, version: number, text: string][] = [
  [
    'nothing yet',
    empty,
    1,
    `#EXTM3U
#EXT-X-VERSION:1
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-DISCONTINUITY-SEQUENCE:0
`,
  ],
  [
    'transport stream segments, of which some are missing or have no media of the publisher',
    {
      ...empty,
      playlistType: 'EVENT',
      segments: [
        { uri: 'a.ts', durationSeconds: 2, parts: [] },
        { uri: 'b.ts', durationSeconds: 1.96667, gap: true, parts: [] },
        { uri: 'c.ts', durationSeconds: 2, filler: 'NO-MEDIA', parts: [] },
        { uri: 'd.ts', durationSeconds: 2, gap: true, filler: 'STOPPED', parts: [] },
      ],
    },
    3,
    `#EXTM3U
#EXT-X-VERSION:3
#EXT-X-TARGETDURATION:2
#EXT-X-PLAYLIST-TYPE:EVENT
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-DISCONTINUITY-SEQUENCE:0
#EXTINF:2.00000,
a.ts
#EXT-X-GAP
#EXTINF:1.96667,
b.ts
#EXT-X-MILLRACE-FILLER:NO-MEDIA
#EXTINF:2.00000,
c.ts
#EXT-X-GAP
#EXT-X-MILLRACE-FILLER:STOPPED
#EXTINF:2.00000,
d.ts
`,
  ],
  [
    'a recording whose init segment changes at a discontinuity',
    {
      ...empty,
      playlistType: 'VOD',
      independentSegments: true,
      endList: true,
      segments: [
        { uri: '0.m4s', durationSeconds: 2, map: init1, programDateTimeMs: noon, parts: [] },
        { uri: '1.m4s', durationSeconds: 0.5, map: init1, parts: [] },
        {
          uri: '2.m4s',
          durationSeconds: 2,
          map: init2,
          discontinuity: true,
          programDateTimeMs: noon + 62_500,
          parts: [],
        },
        { uri: '3.m4s', durationSeconds: 2, map: init1, parts: [] },
      ],
    },
    6,
    `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-DISCONTINUITY-SEQUENCE:0
#EXT-X-MAP:URI="init-1.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.000Z
#EXTINF:2.00000,
0.m4s
#EXTINF:0.50000,
1.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="init-2.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:01:02.500Z
#EXTINF:2.00000,
2.m4s
#EXT-X-MAP:URI="init-1.mp4"
#EXTINF:2.00000,
3.m4s
#EXT-X-ENDLIST
`,
  ],
  [
    'discontinuities without another init segment, of which the map is repeated',
    {
      ...lowLatency,
      segments: [
        { uri: '0.m4s', durationSeconds: 2, map: init1, parts: [] },
        { uri: '1.m4s', durationSeconds: 2, map: init1, discontinuity: true, parts: [] },
        { uri: '2.m4s', durationSeconds: 2, map: init1, parts: [] },
      ],
      openParts: { map: init1, discontinuity: true, parts: [{ uri: 'p9.m4s', durationSeconds: 0.2 }] },
    },
    6,
    `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.60000,HOLD-BACK=6.00000,CAN-SKIP-UNTIL=12.00000
#EXT-X-PART-INF:PART-TARGET=0.20000
#EXT-X-MEDIA-SEQUENCE:41
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-MAP:URI="init-1.mp4"
#EXTINF:2.00000,
0.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="init-1.mp4"
#EXTINF:2.00000,
1.m4s
#EXTINF:2.00000,
2.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="init-1.mp4"
#EXT-X-PART:DURATION=0.20000,URI="p9.m4s"
`,
  ],
  [
    'low latency with an open segment, hints and a report',
    {
      ...lowLatency,
      segments: [
        { uri: 's41.m4s', durationSeconds: 2, map: init1, programDateTimeMs: noon, parts: [] },
        {
          uri: 's42.m4s',
          durationSeconds: 0.36667,
          map: init1,
          programDateTimeMs: noon + 2000,
          parts: [
            { uri: 'p7.m4s', durationSeconds: 0.2, independent: true },
            { uri: 'p8.m4s', durationSeconds: 0.16667 },
          ],
        },
      ],
      openParts: {
        map: init2,
        discontinuity: true,
        programDateTimeMs: noon + 5123,
        parts: [
          { uri: 'p9.m4s', durationSeconds: 0.2, independent: true },
          { uri: 'p10.m4s', durationSeconds: 0.2, gap: true },
        ],
      },
      preloadHints: [
        { type: 'MAP', uri: 'init-3.mp4' },
        { type: 'PART', uri: 'p11.m4s' },
      ],
      renditionReports: [
        { uri: '../audio/index.m3u8', lastMsn: 43, lastPart: 0 },
        { uri: '../low/index.m3u8', lastMsn: 42 },
      ],
    },
    6,
    `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.60000,HOLD-BACK=6.00000,CAN-SKIP-UNTIL=12.00000
#EXT-X-PART-INF:PART-TARGET=0.20000
#EXT-X-MEDIA-SEQUENCE:41
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-MAP:URI="init-1.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.000Z
#EXTINF:2.00000,
s41.m4s
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:02.000Z
#EXT-X-PART:DURATION=0.20000,URI="p7.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.16667,URI="p8.m4s"
#EXTINF:0.36667,
s42.m4s
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="init-2.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:05.123Z
#EXT-X-PART:DURATION=0.20000,URI="p9.m4s",INDEPENDENT=YES
#EXT-X-PART:DURATION=0.20000,URI="p10.m4s",GAP=YES
#EXT-X-PRELOAD-HINT:TYPE=MAP,URI="init-3.mp4"
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p11.m4s"
#EXT-X-RENDITION-REPORT:URI="../audio/index.m3u8",LAST-MSN=43,LAST-PART=0
#EXT-X-RENDITION-REPORT:URI="../low/index.m3u8",LAST-MSN=42
`,
  ],
  [
    'a delta update, with the init segment repeated for the first kept segment',
    {
      ...lowLatency,
      serverControl: { canBlockReload: true, canSkipUntilSeconds: 12, canSkipDateRanges: true },
      skippedSegments: 7,
      segments: [{ uri: 's48.m4s', durationSeconds: 2, map: init1, parts: [] }],
      openParts: { map: init1, parts: [{ uri: 'p90.m4s', durationSeconds: 0.2 }] },
    },
    9,
    `#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:2
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12.00000,CAN-SKIP-DATERANGES=YES
#EXT-X-PART-INF:PART-TARGET=0.20000
#EXT-X-MEDIA-SEQUENCE:41
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-SKIP:SKIPPED-SEGMENTS=7
#EXT-X-MAP:URI="init-1.mp4"
#EXTINF:2.00000,
s48.m4s
#EXT-X-PART:DURATION=0.20000,URI="p90.m4s"
`,
  ],
];

describe('a playlist is written and read back', () => {
  test.each(table)('%s', (_, value, version, text) => {
    expect(formatMediaPlaylist(value)).toBe(text);
    expect(parseMediaPlaylist(text)).toEqual({ ...value, version });
  });
});

describe('writing', () => {
  const write = (change: Partial<MediaPlaylist>) => formatMediaPlaylist({ ...empty, ...change });
  const segment = { uri: 'a.m4s', durationSeconds: 2, parts: [] };

  test('hints are left out once the list has ended', () => {
    expect(write({ endList: true, preloadHints: [{ type: 'PART', uri: 'p' }] })).not.toContain('HINT');
  });

  test('a reload that cannot block is not mentioned, nor control of nothing', () => {
    expect(write({ serverControl: { canBlockReload: false, holdBackSeconds: 6 } })).toContain(
      '#EXT-X-SERVER-CONTROL:HOLD-BACK=6.00000\n',
    );
    expect(write({ serverControl: { canBlockReload: false } })).not.toContain('SERVER-CONTROL');
  });

  test('flags that are false write nothing', () => {
    const start = { discontinuity: false, gap: false };
    const parts = [{ uri: 'p', durationSeconds: 1, independent: false, gap: false }];
    const text = write({ segments: [{ ...segment, ...start, parts }] });
    expect(text).not.toMatch(/DISCONTINUITY\n|GAP|INDEPENDENT/);
  });

  test('durations are rounded to five decimals, dates to milliseconds', () => {
    const text = write({
      segments: [{ ...segment, durationSeconds: 1001 / 30_000, programDateTimeMs: noon + 0.6 }],
    });
    expect(text).toContain('#EXTINF:0.03337,');
    expect(text).toContain('T12:00:00.001Z');
  });

  test.each([
    [
      'a fraction as target duration',
      { targetDurationSeconds: 1.5 },
      '1.5 is no integer of at least 1 for a playlist',
    ],
    ['a negative number', { mediaSequence: -1 }, '-1 is no integer of at least 0 for a playlist'],
    ['nothing skipped', { skippedSegments: 0 }, '0 is no integer of at least 1 for a playlist'],
    [
      'no duration',
      { segments: [{ ...segment, durationSeconds: Number.NaN }] },
      'NaN cannot stand in a playlist',
    ],
    ['an endless part target', { partTargetSeconds: Infinity }, 'Infinity cannot stand in a playlist'],
    [
      'a URI of two lines',
      { segments: [{ ...segment, uri: 'a\nb' }] },
      '"a\\nb" cannot be a line of a playlist',
    ],
    ['a URI like a tag', { segments: [{ ...segment, uri: '#a' }] }, '"#a" cannot be a line of a playlist'],
    [
      'a quote',
      { segments: [{ ...segment, map: { uri: 'a"b' } }] },
      '"a\\"b" cannot be quoted in a playlist',
    ],
  ])('%s is refused', (_, change, message) => {
    expect(() => write(change)).toThrow(expect.objectContaining({ code: 'server-error', message }));
  });
});

describe('reading', () => {
  const head = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';

  test('other line ends, blank lines, comments, titles and unknown tags', () => {
    const text = `#EXTM3U\r\n\r\n# made by hand\r\n#EXT-X-TARGETDURATION:2\r\n#EXT-X-KEY:METHOD=NONE\r\n#EXTINF:2,A title, with commas\r\na.ts`;
    expect(parseMediaPlaylist(text)).toEqual({
      ...empty,
      segments: [{ uri: 'a.ts', durationSeconds: 2, parts: [] }],
    });
  });

  test('unknown attributes', () => {
    const text = `${head}#EXT-X-MAP:X-NEW=0x1F,URI="i.mp4",BYTERANGE="1@0"\n#EXTINF:2,\na.m4s\n`;
    expect(parseMediaPlaylist(text).segments[0]?.map).toEqual({ uri: 'i.mp4' });
  });

  test.each([
    ['2026-11-20T12:00:00Z', 0],
    ['2026-11-20T12:00:00.25Z', 250],
    ['2026-11-20T12:00:00.123456789Z', 123],
    ['2026-11-20T13:30:00.000+01:30', 0],
    ['2026-11-20T13:30:00+0130', 0],
    ['2026-11-20T11:00:00-01', 0],
  ])('the date %s', (date, afterNoonMs) => {
    const text = `${head}#EXT-X-PROGRAM-DATE-TIME:${date}\n#EXTINF:2,\na.ts\n`;
    expect(parseMediaPlaylist(text).segments[0]?.programDateTimeMs).toBe(noon + afterNoonMs);
  });

  test('tags of an open segment before its first part', () => {
    const text = `${head}#EXTINF:2,\na.ts\n#EXT-X-DISCONTINUITY\n`;
    expect(parseMediaPlaylist(text).openParts).toEqual({ discontinuity: true, parts: [] });
  });

  const part = '#EXT-X-PART:DURATION=1,URI="p"\n';
  const inf = '#EXTINF:2,\n';
  test.each([
    ['nothing', '', 'line 1: expected #EXTM3U, found ""'],
    ['a byte order mark', '\ufeff#EXTM3U\n', 'line 1: expected #EXTM3U, found "\ufeff#EXTM3U"'],
    [
      'no target duration',
      '#EXTM3U\n#EXT-X-VERSION:3\n',
      'line 2: expected EXT-X-TARGETDURATION before the end',
    ],
    [
      'the other kind',
      `${head}#EXT-X-STREAM-INF:BANDWIDTH=1\n`,
      'line 3: expected a media playlist, found "EXT-X-STREAM-INF"',
    ],
    ['a tag twice', `${head}#EXT-X-TARGETDURATION:2\n`, 'line 3: expected EXT-X-TARGETDURATION once'],
    [
      'a target duration of 0',
      '#EXTM3U\n#EXT-X-TARGETDURATION:0\n',
      'line 2: expected an integer of at least 1 for EXT-X-TARGETDURATION, found "0"',
    ],
    [
      'a fraction',
      '#EXTM3U\n#EXT-X-TARGETDURATION:2.0\n',
      'line 2: expected an integer of at least 1 for EXT-X-TARGETDURATION, found "2.0"',
    ],
    [
      'a long number',
      `${head}#EXT-X-MEDIA-SEQUENCE:${'1'.repeat(70)}\n`,
      `line 3: expected an integer of at least 0 for EXT-X-MEDIA-SEQUENCE, found "${'1'.repeat(60)}"`,
    ],
    [
      'a late sequence',
      `${head}${inf}a\n#EXT-X-MEDIA-SEQUENCE:1\n`,
      'line 5: expected EXT-X-MEDIA-SEQUENCE before the first segment',
    ],
    [
      'a late discontinuity number',
      `${head}#EXT-X-DISCONTINUITY\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n`,
      'line 4: expected EXT-X-DISCONTINUITY-SEQUENCE before the first segment',
    ],
    [
      'a late skip',
      `${head}${part}#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n`,
      'line 4: expected EXT-X-SKIP before the first segment',
    ],
    ['another type', `${head}#EXT-X-PLAYLIST-TYPE:LIVE\n`, 'line 3: expected EVENT or VOD, found "LIVE"'],
    ['no duration', `${head}#EXTINF:abc,\na\n`, 'line 3: expected a decimal number for EXTINF, found "abc"'],
    [
      'a negative duration',
      `${head}#EXTINF:-1,\na\n`,
      'line 3: expected a decimal number for EXTINF, found "-1"',
    ],
    ['a URI without duration', `${head}a.ts\n`, 'line 3: expected EXTINF before a URI, found "a.ts"'],
    ['a control character', `${head}${inf}a\u0001b\n`, 'line 4: expected a URI, found "a\u0001b"'],
    [
      'a duration without URI',
      `${head}${inf}${inf}a\n`,
      'line 4: expected a URI after EXTINF, found "EXTINF"',
    ],
    ['one at the end', `${head}${inf}`, 'line 3: expected a segment after its tags'],
    ['a gap of nothing', `${head}#EXT-X-GAP\n`, 'line 3: expected a segment after its tags'],
    [
      'a part after EXTINF',
      `${head}${inf}${part}a\n`,
      'line 4: expected a URI after EXTINF, found "EXT-X-PART"',
    ],
    [
      'parts without target',
      `${head}${part}${inf}a\n`,
      'line 3: expected EXT-X-PART-INF in a playlist with parts',
    ],
    [
      'a map behind a part',
      `${head}${part}#EXT-X-MAP:URI="i"\n`,
      'line 4: expected EXT-X-MAP before the first part of its segment',
    ],
    [
      'a date behind a part',
      `${head}${part}#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00Z\n`,
      'line 4: expected EXT-X-PROGRAM-DATE-TIME before the first part of its segment',
    ],
    [
      'a date without zone',
      `${head}#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00\n`,
      'line 3: expected a date and time with a zone, found "2026-11-20T12:00:00"',
    ],
    [
      'a 25th hour',
      `${head}#EXT-X-PROGRAM-DATE-TIME:2026-11-20T25:00:00Z\n`,
      'line 3: expected a date and time with a zone, found "2026-11-20T25:00:00Z"',
    ],
    ['no URI', `${head}#EXT-X-MAP:X=1\n`, 'line 3: expected URI="..." in EXT-X-MAP'],
    ['an empty URI', `${head}#EXT-X-MAP:URI=""\n`, 'line 3: expected URI="..." in EXT-X-MAP, found ""'],
    ['a bare URI', `${head}#EXT-X-MAP:URI=a.mp4\n`, 'line 3: expected URI="..." in EXT-X-MAP, found "a.mp4"'],
    [
      'an open quote',
      `${head}#EXT-X-MAP:URI="a\n`,
      'line 3: expected NAME=VALUE in EXT-X-MAP, found "URI="a"',
    ],
    [
      'white space',
      `${head}#EXT-X-PART:DURATION=1, URI="a"\n`,
      'line 3: expected NAME=VALUE in EXT-X-PART, found " URI="a""',
    ],
    [
      'a comma too many',
      `${head}#EXT-X-PART:DURATION=1,\n`,
      'line 3: expected NAME=VALUE in EXT-X-PART, found ""',
    ],
    ['an attribute twice', `${head}#EXT-X-PART:GAP=YES,GAP=YES\n`, 'line 3: expected GAP once in EXT-X-PART'],
    [
      'a quoted number',
      `${head}#EXT-X-PART-INF:PART-TARGET="1"\n`,
      'line 3: expected PART-TARGET in EXT-X-PART-INF without quotes, found "1"',
    ],
    ['no number', `${head}#EXT-X-PART:URI="a"\n`, 'line 3: expected DURATION in EXT-X-PART'],
    [
      'INDEPENDENT=NO',
      `${head}#EXT-X-PART:DURATION=1,URI="a",INDEPENDENT=NO\n`,
      'line 3: expected INDEPENDENT=YES in EXT-X-PART, found "NO"',
    ],
    [
      'another hint',
      `${head}#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="k"\n`,
      'line 3: expected TYPE=PART|MAP in EXT-X-PRELOAD-HINT, found "KEY"',
    ],
    [
      'a hint of no type',
      `${head}#EXT-X-PRELOAD-HINT:URI="k"\n`,
      'line 3: expected TYPE=PART|MAP in EXT-X-PRELOAD-HINT',
    ],
    [
      'a report without number',
      `${head}#EXT-X-RENDITION-REPORT:URI="a"\n`,
      'line 3: expected LAST-MSN in EXT-X-RENDITION-REPORT',
    ],
  ])('%s is refused', (_, text, message) => {
    expect(() => parseMediaPlaylist(text)).toThrow(
      expect.objectContaining({ code: 'playlist-malformed', message }),
    );
  });
});

describe('mutated playlists', () => {
  test.each(table.map(([name, , , text], index) => [name, text, index + 1] as const))(
    '%s',
    (_, text, seed) => {
      const random = new Random(seed);
      let read = 0;
      for (let count = 0; count < 1500; count++) {
        const mutated = mutateText(text, random);
        let value: MediaPlaylist;
        try {
          value = parseMediaPlaylist(mutated);
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'playlist-malformed') throw error;
          expect(error.message).toMatch(/^line \d+: expected /);
          continue;
        }
        read += 1;
        // Parsed playlists can be written, and parse to the same value.
        const written = formatMediaPlaylist(value);
        expect(formatMediaPlaylist(parseMediaPlaylist(written))).toBe(written);
      }
      expect(read).toBeGreaterThan(100);
      expect(read).toBeLessThan(1500);
    },
  );
});
