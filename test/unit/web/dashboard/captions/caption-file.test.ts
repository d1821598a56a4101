import { describe, expect, it } from 'vitest';
import { decodeCueText, encodeCueText } from '../../../../../src/media/webvtt/cue-text.ts';
import { maxCues } from '../../../../../src/media/webvtt/cues.ts';
import {
  type CaptionFile,
  formatCaptionFile,
  parseCaptionFile,
  sortCues,
} from '../../../../../src/web/dashboard/pages/captions/caption-file.ts';
import { setText, setTime } from '../../../../../src/web/dashboard/pages/captions/cue-edits.ts';

const rich = `WEBVTT - Harbour
X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000

STYLE
::cue { color: yellow }

REGION
id:top
lines:2

NOTE Checked twice.

intro
00:01.000 --> 00:02.500 line:0 position:20% align:start
- Who is there?
- <v Ann>Me &amp; you.

NOTE
Two lines
of comment.

00:00:03.000   -->   01:00:04.000
Last

NOTE The end.
`;

const parse = (vtt: string): CaptionFile => parseCaptionFile(vtt)!;

describe('a caption file', () => {
  it('is written unchanged when no cue is edited', () => {
    expect(formatCaptionFile(parse(rich))).toBe(rich);
    expect(formatCaptionFile(parse(`\ufeff${rich.replaceAll('\n', '\r\n')}`))).toBe(rich);
  });

  it('shows times and texts as people write them', () => {
    expect(parse(rich).cues).toMatchObject([
      { start: '0:01', end: '0:02.5', text: '- Who is there?\n- <v Ann>Me & you.', identifier: 'intro' },
      { start: '0:03', end: '1:00:04', text: 'Last', identifier: undefined },
    ]);
  });

  it('keeps identifiers, settings, comments, styles and regions of edited cues', () => {
    const file = parse(rich);
    const [first, last] = file.cues;
    // The server stores no NUL.
    const changed = setTime(
      setText(file, first!.id, 'Me\0 & you < <b>all</b>\n\n'),
      last!.id,
      'start',
      '2.75',
    );
    expect(formatCaptionFile(changed)).toBe(
      rich
        .replace(/- Who.*\n.*you\.\n/, 'Me &amp; you &lt; <b>all</b>\n')
        .replace('00:01.000 --> 00:02.500', '00:00:01.000 --> 00:00:02.500')
        .replace('00:00:03.000   -->   01', '00:00:02.750 --> 01'),
    );
  });

  it('keeps cues that players skip, and counts them', () => {
    const vtt =
      'WEBVTT\n\n1:2 --> 3\nWrong\n\n00:01.000 --> 00:02.000\nRight\n\n00:05,000 --> 00:06,000\nNo\n';
    const file = parse(vtt);
    expect(file).toMatchObject({ unreadable: 2, cues: [{ text: 'Right' }] });
    expect(formatCaptionFile(file)).toBe(vtt);
  });

  it('begins a cue at each line of times', () => {
    const { cues } = parse('WEBVTT\n00:01.000 --> 00:02.000\nOne\n00:02.000 --> 00:03.000\nTwo');
    expect(cues.map(({ text }) => text)).toEqual(['One', 'Two']);
  });

  it('may have no cues, but not too many', () => {
    expect(parse('WEBVTT\n\nNOTE Empty\n')).toMatchObject({ cues: [], header: ['WEBVTT', 'NOTE Empty'] });
    const cue = '\n00:01.000 --> 00:02.000\nText\n';
    expect(parse(`WEBVTT\n${cue.repeat(maxCues)}`).cues).toHaveLength(maxCues);
    expect(parseCaptionFile(`WEBVTT\n${cue.repeat(maxCues + 1)}`)).toBeUndefined();
  });

  it('is sorted by start, with the comments above each cue', () => {
    const file = parse(rich);
    const sorted = formatCaptionFile(sortCues(setTime(file, file.cues[1]!.id, 'start', '0')));
    expect(sorted.indexOf('NOTE\nTwo lines')).toBeLessThan(sorted.indexOf('intro'));
    expect(sortCues(file)).toBe(file);
  });
});

describe('the text of a cue', () => {
  it.each([
    ['Me &amp; you', 'Me & you'],
    ['1 &lt; 2 &gt; 0', '1 < 2 > 0'],
    ['<i>Me</i> <00:00:01.000>now', '<i>Me</i> <00:00:01.000>now'],
    ['A tag: &lt;b&gt;', 'A tag: &lt;b&gt;'],
    ['&amp;lt; as text', '&amp;lt; as text'],
    ['Me & you', 'Me & you'],
    ['A&nbsp;space', 'A&nbsp;space'],
  ])('of the source %s is %s', (source, text) => expect(decodeCueText(source)).toBe(text));

  it.each([
    ['R&D --> now', 'R&amp;D --&gt; now'],
    ['a\r\n \nb', 'a\nb'],
    ['<script>x</script>', '&lt;script&gt;x&lt;/script&gt;'],
    ['<c.loud>Hey</c>', '<c.loud>Hey</c>'],
  ])('%s is written as %s', (text, source) => expect(encodeCueText(text)).toBe(source));
});
