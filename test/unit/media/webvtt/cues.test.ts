import { describe, expect, it } from 'vitest';
import { escapeCueText } from '../../../../src/media/webvtt/cue-text.ts';
import { formatCueTime } from '../../../../src/media/webvtt/cue-times.ts';
import { formatCues, parseCues } from '../../../../src/media/webvtt/cues.ts';
import { readLines } from '../../../../src/media/webvtt/line-reader.ts';

describe('parseCues', () => {
  it.each([
    ['', []],
    ['WEBVTT', []],
    ['WEBVTT\n\n00:01.000 --> 00:02.500\nOne\ntwo', [[1, 2.5, 'One\ntwo']]],
    [
      '\uFEFFWEBVTT title\r\n\r\nid\r\n01:00:00.000 --> 01:00:01.000 line:0 align:start\r\nA',
      [[3600, 3601, 'A']],
    ],
    [
      'WEBVTT\n\nNOTE 00:01.000 --> no\n\nSTYLE\n::cue { color: red }\n\n00:05.000 --> 00:06.000\nB',
      [[5, 6, 'B']],
    ],
    [
      'WEBVTT\n\n00:05.000 --> 00:06.000\nlater\n\n00:01.000 --> 00:02.000\nearlier',
      [
        [1, 2, 'earlier'],
        [5, 6, 'later'],
      ],
    ],
    [
      'WEBVTT\n\n00:02.000 --> 00:01.000\nbackwards\n\n0:1 --> 0:2\nshort\n\n--> \n\n<html>',
      [[1, 2, 'short']],
    ],
  ])('reads %j', (text, expected) => {
    expect(parseCues(text).map(cue => [cue.startMs / 1000, cue.endMs / 1000, cue.text])).toEqual(expected);
  });

  it('ends with the twenty thousandth entry', () => {
    expect(parseCues('WEBVTT\n\n00:01.000 --> 00:02.000\nx\n\n'.repeat(30_000))).toHaveLength(20_000);
  });
});

describe('formatCues', () => {
  it('writes what parseCues reads', () => {
    const cues = [{ startMs: 3_600_500, endMs: 3_602_000, text: escapeCueText('a < b & c --> d') }];
    const file = 'WEBVTT\n\n01:00:00.500 --> 01:00:02.000\na &lt; b &amp; c --&gt; d\n';
    expect(formatCues(cues)).toBe(file);
    expect(parseCues(file)).toEqual(cues);
  });
});

describe('formatCueTime', () => {
  it.each([
    [-5, '00:00:00.000'],
    [999.6, '00:00:01.000'],
    [3_599_999.9, '01:00:00.000'],
    [360_000_001, '100:00:00.001'],
  ])('writes %d ms as %s', (ms, time) => expect(formatCueTime(ms)).toBe(time));
});

describe('lines of WebVTT', () => {
  const kinds = (file: string) =>
    [...readLines(file)].map(({ kind, line }) => (kind === 'end' ? '/' : `${kind} ${line}`));
  const times = '00:01.000 --> 00:02.000';

  it.each([
    [
      'the header, also directly above a cue',
      `WEBVTT\n${times}\na`,
      ['other WEBVTT', '/', `times ${times}`, 'text a', '/'],
    ],
    ['identifiers', `id\r\n${times}\r\na`, ['identifier id', `times ${times}`, 'text a', '/']],
    [
      'times that follow a cue',
      `${times}\na\n${times}\nb`,
      [`times ${times}`, 'text a', '/', `times ${times}`, 'text b', '/'],
    ],
    [
      'times that follow several lines',
      `NOTE\na\n${times}`,
      ['other NOTE', 'other a', '/', `times ${times}`, '/'],
    ],
    ['arrows in the text of a cue', `${times}\n-->\n`, [`times ${times}`, 'text -->', '/']],
    ['comments', 'NOTE\na\n\n\nNOTE b', ['other NOTE', 'other a', '/', 'other NOTE b', '/']],
  ])('are told apart: %s', (_, file, expected) => expect(kinds(file)).toEqual(expected));
});
