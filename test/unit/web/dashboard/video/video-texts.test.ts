import { describe, expect, it } from 'vitest';
import { formatCueTime } from '../../../../../src/media/webvtt/cue-times.ts';
import { maxTextTrackBytes } from '../../../../../src/shared/limits/resource-limits.ts';
import { normalizeLanguageTag } from '../../../../../src/shared/text/language-tag.ts';
import { parseTimecode } from '../../../../../src/shared/text/timecode.ts';
import type { VideoStatus } from '../../../../../src/web/dashboard/api/api-types.ts';
import {
  languageName,
  spokenLanguages,
  trackLanguages,
} from '../../../../../src/web/dashboard/format/languages.ts';
import {
  positionAfterKey,
  sampleTiles,
  tileAt,
  tileStyle,
} from '../../../../../src/web/dashboard/pages/video/thumbnail/frame-times.ts';
import {
  addRow,
  draftOf,
  formatChapters,
  parseRows,
  rowsOf,
  setRow,
  typedFaults,
} from '../../../../../src/web/dashboard/pages/video/tracks/chapter-rows.ts';
import { checkTrackFile } from '../../../../../src/web/dashboard/pages/video/tracks/track-file.ts';
import { activityOf, failedRenditions } from '../../../../../src/web/dashboard/pages/video/video-activity.ts';
import { parseTab, tabHref, tabOfAnchor } from '../../../../../src/web/dashboard/pages/video/video-tabs.ts';
import { parseChapters } from '../../../../../src/web/shared/chapters.ts';
import { formatTimecode } from '../../../../../src/web/shared/time-text.ts';

describe('the tabs of a video', () => {
  it('have addresses, and anchors of the parts in them', () => {
    expect(parseTab(undefined)).toBe('details');
    expect(parseTab('no such')).toBe('details');
    expect(parseTab('distribution')).toBe('share');
    expect(tabHref('vi1', parseTab('captions'))).toBe('/dashboard/videos/vi1?part=captions');
    expect(tabOfAnchor('#embed')).toBe('share');
    expect(tabOfAnchor('#analytics')).toBe('analytics');
    expect(tabOfAnchor('#toString')).toBeUndefined();
    expect(tabOfAnchor('')).toBeUndefined();
  });
});

describe('what the server does with a video', () => {
  const quality = (name: '240p' | '360p', status: 'encoded' | 'encoding' | 'waiting' | 'failed') => ({
    type: 'hls' as const,
    quality: name,
    status,
    progress: 0,
  });
  const status = (qualities: ReturnType<typeof quality>[]): VideoStatus => ({
    encoding: { playable: false, qualities, metadata: {} as VideoStatus['encoding']['metadata'] },
  });

  it('names the rendition that is encoded, and how many are done', () => {
    const encoding = status([quality('240p', 'encoded'), quality('360p', 'encoding')]);
    expect(activityOf({ kind: 'playable' }, encoding)).toEqual({
      title: 'Encoding 360p',
      text: '1 of 2 renditions is done. Viewers can already watch.',
    });
    expect(activityOf({ kind: 'encoding' }, status([quality('240p', 'waiting')]))).toEqual({
      title: 'Waiting to encode',
      text: '0 of 1 renditions are done. The video appears here as soon as the first one is done.',
    });
    expect(failedRenditions(status([quality('240p', 'failed')]).encoding)).toEqual(['240p']);
  });

  it('tells how much of an upload has arrived', () => {
    const receivedBytes = [{ from: 0, to: 999_999, total: 4_000_000 }];
    const ingest = { status: 'uploading' as const, filesize: null, receivedBytes };
    expect(activityOf({ kind: 'uploading' }, { ...status([]), ingest }).text).toBe(
      '1 MB of 4 MB have arrived.',
    );
  });
});

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

  it('are added where the player is', () => {
    const draft = draftOf([
      { startSeconds: 0, name: 'Opening' },
      { startSeconds: 60, name: 'Middle' },
    ]);
    const added = addRow(draft, 30.5);
    expect(added.rows.map(({ id, time }) => [id, time])).toEqual([
      [0, '0:00'],
      [draft.nextId, '0:30.5'],
      [1, '1:00'],
    ]);
    expect(addRow(draft, undefined).rows.at(-1)).toMatchObject({ time: '', title: '' });
    // Only a wrong time is a fault already, not a title that is still missing.
    expect(typedFaults(added.rows, 90).size).toBe(0);
    const wrong = setRow(added, draft.nextId, { time: '2:00' });
    expect(typedFaults(wrong.rows, 90).get(draft.nextId)).toEqual({
      time: 'This is after the end of the video.',
    });
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
    checkTrackFile(new File([content], name, { type }), 'fr');
  const vttCue = '00:01.000 --> 00:02.000\nHello\n';
  const srtCue = '1\r\n00:00:01,000 --> 00:00:02,500\r\nHello\r\n\r\n';
  const fault =
    'The file has no times such as 00:01.000 --> 00:04.000. Choose a WebVTT (.vtt) or SubRip (.srt) file.';

  it.each([
    ['WebVTT', `WEBVTT\n\n${vttCue}`, { cues: 1, wasSubRip: false, warnings: [] }],
    ['SubRip', `${srtCue}${srtCue}`, { cues: 2, wasSubRip: true, warnings: [] }],
    [
      'Windows-1252',
      Uint8Array.from(Buffer.from(`WEBVTT\n\n${vttCue}\xc7a`, 'latin1')),
      {
        cues: 1,
        wasSubRip: false,
        warnings: ['The text was converted from WINDOWS-1252 to UTF-8.'],
      },
    ],
  ])('is read as the server reads it: %s', async (_, content, check) => {
    expect(await read(content)).toEqual(check);
  });

  it.each([
    ['nothing', '', 'The file is empty. Choose a WebVTT (.vtt) or SubRip (.srt) file.'],
    ['no cues', 'WEBVTT\n\nHello\n', fault],
    ['text', 'Hello\n', fault],
    ['bytes', Uint8Array.from([1, 0, 2]), fault],
  ])('is refused: %s', async (_, content, fault) => {
    expect(await read(content)).toEqual({ fault });
  });

  it('is refused when it is something else, or too large', async () => {
    expect(await read('x', 'film.mp4', 'video/mp4')).toEqual({
      fault: '“film.mp4” is a video. Choose a WebVTT (.vtt) or SubRip (.srt) file.',
    });
    expect(await read('x'.repeat(maxTextTrackBytes + 1))).toEqual({
      fault: 'The file is larger than 8 MiB. Choose a WebVTT (.vtt) or SubRip (.srt) file.',
    });
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
    startSeconds: index * 2,
    endSeconds: index * 2 + 2,
    url: '/s.jpg',
    x: (index % 2) * 160,
    y: Math.floor(index / 2) * 90,
    width: 160,
    height: 90,
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
    expect(formatCueTime(1000 * seconds)).toBe(timecode);
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
