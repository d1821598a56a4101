import { describe, expect, it } from 'vitest';
import { SubRipConverter } from '../../../../src/resources/text-tracks/subrip-converter.ts';

/** The WebVTT of the lines, or the first problem as `line: problem`. */
function convert(...lines: string[]): string {
  const converter = new SubRipConverter();
  let text = '';
  for (const [index, line] of lines.entries()) {
    const result = converter.convert(line);
    if (typeof result !== 'string') return `${index + 1}: ${result.problem}`;
    text += result;
  }
  const end = converter.end();
  return end === undefined ? text : `end: ${end.problem}`;
}

const cue = (...text: string[]) => ['1', '00:00:01,000 --> 00:00:02,500', ...text];
const cueText = (...text: string[]) => convert(...cue(...text)).replace(/^\n.*\n/, '');

describe('SubRip', () => {
  it('becomes cues with times as players read them', () => {
    expect(
      convert(
        ...['', '1', '00:00:01,000 --> 00:00:02,500\r', 'Hello\r', 'you\r', '\r', '\r'],
        ...['2', '100:59:3.5 -->  101:00:00,020 X1:10 X2:20', ' And you', '', ''],
        ...[
          '00:00:09,000 --> 00:00:10,000',
          'No number',
          '',
          '4',
          '00:00:11,000 --> 00:00:11,000',
          'Never shown',
        ],
      ),
    ).toBe(
      [
        ...['', '00:00:01.000 --> 00:00:02.500', 'Hello', 'you'],
        ...['', '100:59:03.005 --> 101:00:00.020', 'And you'],
        ...['', '00:00:09.000 --> 00:00:10.000', 'No number', ''],
      ].join('\n'),
    );
  });

  it.each([
    ['<i>slanted</i> and <B>bold</B>', '<i>slanted</i> and <b>bold</b>'],
    ['<font color="#ff0000">red</font> {\\an8}above', 'red above'],
    ['1 < 2 --> 3 & <script>', '1 &lt; 2 --&gt; 3 &amp; &lt;script&gt;'],
    ['Tom &amp; Jerry&nbsp;', 'Tom &amp; Jerry&nbsp;'],
  ])('keeps what WebVTT can show: %s', (text, converted) => {
    expect(cueText(text)).toBe(`${converted}\n`);
  });

  it.each([
    [
      ['<html>'],
      '1: expected WEBVTT, a cue number or the times of a cue (00:00:01,000 --> 00:00:04,000), found "<html>"',
    ],
    [['00:01.000 --> 00:02.000', 'Hello'], '1: expected WEBVTT, a cue number or'],
    [['1', 'Hello'], '2: expected the times of a cue (00:00:01,000 --> 00:00:04,000), found "Hello"'],
    [[...cue('Hello', '', 'more')], '5: expected WEBVTT, a cue number or'],
    [[...cue('Hello'), '00:00:03,000 --> 00:00:04,000'], '4: expected an empty line before the next cue'],
    [['1', '00:00:02,000 --> 00:00:01,000'], '2: has a cue that ends before it begins'],
    [['1', '00:61:02,000 --> 01:00:00,000'], '2: has more than 59 minutes or seconds'],
    [[...cue('x'.repeat(10_001))], '3: is longer than 10000 characters'],
    [['', ''], 'end: expected a cue number, found the end of the file'],
    [[...cue('Hello', '', '2')], 'end: expected the times of a cue'],
  ])('is refused with its line: %j', (lines, problem) => {
    expect(convert(...lines).slice(0, problem.length)).toBe(problem);
  });
});
