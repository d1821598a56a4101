import { describe, expect, it } from 'vitest';
import { SubRipConverter } from '../../../../../src/resources/text-tracks/subrip-converter.ts';
import { maxTextTrackBytes } from '../../../../../src/resources/text-tracks/text-track.ts';
import { normalizeLanguageTag } from '../../../../../src/shared/text/language-tag.ts';
import { parseTimecode } from '../../../../../src/shared/text/timecode.ts';
import {
  formatFrameTimecode,
  positionAfterKey,
  sampleTiles,
  tileAt,
  tileStyle,
} from '../../../../../src/web/dashboard/pages/video/thumbnail/frame-times.ts';
import {
  formatChapters,
  formatTimecode,
  parseRows,
  rowsOf,
} from '../../../../../src/web/dashboard/pages/video/tracks/chapter-rows.ts';
import {
  languageName,
  spokenLanguages,
  trackLanguages,
} from '../../../../../src/web/dashboard/pages/video/tracks/languages.ts';
import {
  checkTrackFile,
  maxTrackBytes,
} from '../../../../../src/web/dashboard/pages/video/tracks/track-file.ts';
import { parseChapters } from '../../../../../src/web/shared/chapters.ts';

describe('chapters that are edited', () => {
  const rows = [
    { id: 0, time: '1:05.25', title: 'The <middle> & more' },
    { id: 1, time: '', title: '' },
    { id: 2, time: '0:00', title: ' Opening ' },
  ];

  it('are read in the order of their times, written as WebVTT, and edited again', () => {
    const { chapters, faults } = parseRows(rows, 90);
    expect(faults.size).toBe(0);
    expect(chapters).toEqual([
      { startSeconds: 0, name: 'Opening' },
      { startSeconds: 65.25, name: 'The <middle> & more' },
    ]);
    const file = formatChapters(chapters, 90);
    expect(file).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:01:05.250\nOpening\n\n00:01:05.250 --> 00:01:30.000\nThe &lt;middle&gt; &amp; more\n',
    );
    expect(rowsOf(parseChapters(file))).toEqual([
      { id: 0, time: '0:00', title: 'Opening' },
      { id: 1, time: '1:05.25', title: 'The <middle> & more' },
    ]);
  });

  it.each([
    ['no time', { time: 'soon', title: 'A' }, { time: 'Enter a time such as 1:05.' }],
    ['a time after the end', { time: '1:30', title: 'A' }, { time: 'This is after the end of the video.' }],
    ['a time that is taken', { time: '0', title: 'A' }, { time: 'Another chapter begins here.' }],
    ['no title', { time: '5', title: ' ' }, { title: 'Enter a title.' }],
  ])('are refused with %s', (_, row, fault) => {
    const { faults } = parseRows(
      [
        { id: 7, time: '0:00', title: 'First' },
        { id: 8, ...row },
      ],
      90,
    );
    expect([...faults]).toEqual([[8, fault]]);
  });

  it.each([
    [0, '0:00'],
    [3_661, '1:01:01'],
    [59.9996, '1:00'],
    [1.5, '0:01.5'],
  ])('have %d seconds written as %s', (seconds, text) => {
    expect(formatTimecode(seconds)).toBe(text);
  });
});

describe('a file of captions', () => {
  const read = (content: string | Uint8Array<ArrayBuffer>, name = 'a.vtt', type = 'text/vtt') =>
    checkTrackFile(new File([content], name, { type }));
  const vttCue = '00:01.000 --> 00:02.000\nHello\n';
  const srtCue = '1\r\n00:00:01,000 --> 00:00:02,500\r\nHello\r\n\r\n';

  it.each([
    ['WebVTT', `WEBVTT\n\n${vttCue}`, 1, false],
    [
      'WebVTT with a byte order mark, a header, a note and an identifier',
      `\ufeffWEBVTT - A\nKind: captions\n\nNOTE no cue\n\nintro\n${vttCue}\n01:00:01.000 --> 01:00:02.000 line:0\nYou`,
      2,
      false,
    ],
    ['SubRip', `${srtCue}2\r\n00:00:03,000 --> 00:00:04,000\r\nYou\r\n`, 2, true],
  ])('is looked into: %s', async (_, text, cues, wasSubRip) => {
    expect(await read(text)).toEqual({ cues, wasSubRip });
  });

  it.each([
    ['nothing', '', 'The file is empty. Choose a WebVTT (.vtt) or SubRip (.srt) file.'],
    [
      'no cues',
      'WEBVTT\n\nHello\n',
      'Nothing in this file can be shown: there are no times such as 00:01.000 --> 00:04.000.',
    ],
    [
      'WebVTT with short times',
      `WEBVTT\n\n${vttCue}\n00:01 --> 00:04\nYou\n`,
      'Line 6: expected times such as 00:01.000 --> 00:04.000, found “00:01 --> 00:04”.',
    ],
    [
      'WebVTT with times of SubRip',
      'WEBVTT\n\n00:00:01,000 --> 00:00:04,000\nYou\n',
      'Line 3: expected times such as 00:01.000 --> 00:04.000, found “00:00:01,000 --> 00:00:04,000”.',
    ],
    [
      'a cue that ends first',
      'WEBVTT\n\n00:05.000 --> 00:04.000\nYou\n',
      'Line 3: the cue does not end after it begins.',
    ],
    [
      'cues without an empty line between them',
      `WEBVTT\n\n${vttCue}${vttCue}`,
      'Line 5: expected an empty line before the next cue, found “00:01.000 --> 00:02.000”.',
    ],
    [
      'WebVTT without its first line',
      `intro\n${vttCue}`,
      'Line 1: expected WEBVTT, a cue number or times such as 00:00:01,000 --> 00:00:04,000, found “intro”.',
    ],
    [
      'SubRip with a bad cue',
      `${srtCue}2\n00:00 --> 00:01\n`,
      'Line 6: expected times such as 00:00:01,000 --> 00:00:04,000, found “00:00 --> 00:01”.',
    ],
    [
      'SubRip that is cut off',
      `${srtCue}2`,
      'Line 5: expected times such as 00:00:01,000 --> 00:00:04,000, found the end of the file.',
    ],
    [
      'Latin-1',
      Uint8Array.from(Buffer.from(`WEBVTT\n\n${vttCue}Ça`, 'latin1')),
      'Line 5 is not in UTF-8. Save the file as UTF-8 and choose it again.',
    ],
    [
      'UTF-16',
      Uint8Array.from(Buffer.from('\ufeffWEBVTT', 'utf16le')),
      'The file is in UTF-16. Save the file as UTF-8 and choose it again.',
    ],
    [
      'bytes',
      Uint8Array.from([1, 0, 2]),
      'This is not a text file. Choose a WebVTT (.vtt) or SubRip (.srt) file.',
    ],
  ])('is refused with its line: %s', async (_, content, fault) => {
    expect(await read(content)).toEqual({ fault });
  });

  it('is refused when it is something else, or too large', async () => {
    expect(await read('x', 'film.mp4', 'video/mp4')).toEqual({
      fault: '“film.mp4” is a video. Choose a WebVTT (.vtt) or SubRip (.srt) file.',
    });
    expect(maxTrackBytes).toBe(maxTextTrackBytes);
    expect(await read('x'.repeat(maxTrackBytes + 1))).toEqual({
      fault: 'The file is larger than 8 MiB. Choose a WebVTT (.vtt) or SubRip (.srt) file.',
    });
  });

  it('of SubRip is refused as the server refuses it', async () => {
    const files = [
      srtCue,
      `${srtCue}${srtCue}`,
      `${srtCue}x`,
      '1\n\n',
      '00:00:01,0 --> 00:00:01,0\nx',
      '00:00:02,0 --> 00:00:01,0\nx',
      '0:75:00,0 --> 0:76:00,0\nx',
      '1\n00:00:01.5 --> 00:00:02\n',
      '\n\n1\n2\n',
    ];
    for (const file of files) {
      const converter = new SubRipConverter();
      const isTaken =
        file.split('\n').every(line => typeof converter.convert(line) === 'string') &&
        converter.end() === undefined;
      expect([file, 'cues' in (await read(file))]).toEqual([file, isTaken]);
    }
  });
});

describe('languages that are offered', () => {
  it('are taken by the server, each once', () => {
    const tags = trackLanguages().map(([tag]) => tag);
    expect(tags.filter(tag => normalizeLanguageTag(tag) !== tag)).toEqual([]);
    expect(new Set(tags).size).toBe(tags.length);
    expect(spokenLanguages()).toHaveLength(33);
  });

  it('are called by their names, or their tags', () => {
    expect(languageName('fr-CA')).toMatch(/^French/);
    expect(languageName('no_tag')).toBe('no_tag');
  });
});

describe('a place in a film', () => {
  const tiles = [0, 1, 2].map(index => ({
    ...{ startSeconds: index * 2, endSeconds: index * 2 + 2, url: '/s.jpg' },
    ...{ x: (index % 2) * 160, y: Math.floor(index / 2) * 90, width: 160, height: 90 },
  }));

  it('has the small picture of its time, and behind the end the last one', () => {
    expect([0, 3.9, 4, 7].map(seconds => tiles.indexOf(tileAt(tiles, seconds)!))).toEqual([0, 1, 2, 2]);
    expect(tileAt([], 1)).toBeUndefined();
    expect(sampleTiles(tiles, 2)).toEqual([tiles[0], tiles[2]]);
    expect(sampleTiles(tiles, 10)).toEqual(tiles);
  });

  it('cuts its small picture out of the large one at any size', () => {
    expect(tileStyle(tiles[1]!, tiles)).toEqual({
      backgroundImage: 'url("/s.jpg")',
      backgroundSize: '200% 200%',
      backgroundPosition: '100% 0%',
      aspectRatio: '160 / 90',
    });
    expect(tileStyle(tiles[0]!, tiles.slice(0, 1)).backgroundPosition).toBe('0% 0%');
  });

  it.each([
    [0, '00:00:00.000'],
    [65.04, '00:01:05.040'],
    [36_000.9999, '10:00:01.000'],
  ])('of %d seconds is asked for as %s', (seconds, timecode) => {
    expect(formatFrameTimecode(seconds)).toBe(timecode);
    expect(parseTimecode(timecode)?.seconds).toBeCloseTo(seconds, 2);
  });

  it.each([
    ['ArrowRight', false, 11],
    ['ArrowLeft', true, 9.96],
    ['PageUp', false, 12],
    ['PageDown', false, 8],
    ['Home', false, 0],
    ['End', false, 20],
    ['a', false, undefined],
  ])('moves by %s', (key, shiftKey, to) => {
    const moved = positionAfterKey({ key, shiftKey }, 10, 20);
    expect(moved).toBe(to);
  });
});
