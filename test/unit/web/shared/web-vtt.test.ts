import { describe, expect, it } from 'vitest';
import { parseChapters } from '../../../../src/web/shared/chapters.ts';
import { parseStoryboard } from '../../../../src/web/shared/storyboard.ts';
import { cueAt, parseVtt } from '../../../../src/web/shared/web-vtt.ts';

describe('parseVtt', () => {
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
    expect(parseVtt(text).map(cue => [cue.startSeconds, cue.endSeconds, cue.text])).toEqual(expected);
  });

  it('ends with the twenty thousandth entry', () => {
    expect(parseVtt('WEBVTT\n\n00:01.000 --> 00:02.000\nx\n\n'.repeat(30_000))).toHaveLength(20_000);
  });
});

describe('cueAt', () => {
  const cues = parseVtt(
    'WEBVTT\n\n00:01.000 --> 00:03.000\na\n\n00:02.000 --> 00:04.000\nb\n\n00:06.000 --> 00:07.000\nc',
  );

  it.each([
    [0.9, undefined],
    [1, 'a'],
    [2, 'b'],
    [3.9, 'b'],
    [4, undefined],
    [6.5, 'c'],
    [7, undefined],
  ])('finds at %d s %s', (seconds, text) => {
    expect(cueAt(cues, seconds)?.text).toBe(text);
  });
});

describe('readStoryboard', () => {
  it('reads tiles with addresses relative to the file, and leaves out what is no tile', () => {
    const vtt = `WEBVTT

00:00.000 --> 00:05.000
storyboard.jpg#xywh=160,90,160,90

00:05.000 --> 00:10.000
storyboard.jpg

00:10.000 --> 00:15.000
/s.jpg#xywh=0,0,0,90

00:15.000 --> 00:20.000
http://[#xywh=0,0,1,1`;
    expect(parseStoryboard(vtt, 'https://m.test/vod/vi1/storyboard.vtt?avh=1')).toEqual([
      {
        ...{ startSeconds: 0, endSeconds: 5, x: 160, y: 90, width: 160, height: 90 },
        url: 'https://m.test/vod/vi1/storyboard.jpg?avh=1',
      },
    ]);
  });
});

describe('readChapters', () => {
  it('lets each last until the next, names them in plain text, and leaves out the nameless', () => {
    const vtt = `WEBVTT

00:00.000 --> 00:01.000
<v Someone>First &amp; &lt;best&gt;</v>

00:04.000 --> 00:05.000
<b></b>

00:08.000 --> 00:12.000
Second
line`;
    expect(parseChapters(vtt)).toEqual([
      { startSeconds: 0, endSeconds: 8, name: 'First & <best>' },
      { startSeconds: 8, endSeconds: 12, name: 'Second line' },
    ]);
  });
});
