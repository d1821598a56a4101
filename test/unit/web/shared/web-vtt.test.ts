import { describe, expect, it } from 'vitest';
import { parseChapters } from '../../../../src/web/shared/chapters.ts';
import { cueAt } from '../../../../src/web/shared/cue-at.ts';
import { parseStoryboard } from '../../../../src/web/shared/storyboard.ts';

describe('cueAt', () => {
  const cues = [
    { startSeconds: 1, endSeconds: 3, text: 'a' },
    { startSeconds: 2, endSeconds: 4, text: 'b' },
    { startSeconds: 6, endSeconds: 7, text: 'c' },
  ];

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
        startSeconds: 0,
        endSeconds: 5,
        x: 160,
        y: 90,
        width: 160,
        height: 90,
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
