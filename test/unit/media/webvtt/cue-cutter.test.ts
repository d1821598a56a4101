import { describe, expect, test } from 'vitest';
import { ConvertedCueCutter, type CueCutter, WebVttCutter } from '../../../../src/media/webvtt/cue-cutter.ts';

function cutBy(cutter: CueCutter, text: string) {
  const written = text.split('\n').map(line => cutter.read(line));
  written.push(cutter.end());
  return { hasCues: cutter.hasCues, written: written.join('') };
}

describe('WebVTT files', () => {
  const cut = (text: string, startMs: number, durationMs: number) =>
    cutBy(new WebVttCutter({ startMs, durationMs }), text);

  test('are cut at the edges, with their styles, settings and karaoke', () => {
    const text = `WEBVTT - Film
Kind: captions

STYLE
::cue { color: lime }

before
00:01.000 --> 00:02.000
gone

1
00:04.000-->00:07.500\tposition:10% align:start
<v Anna>We <00:04.500>were <00:06.000>here

NOTE a comment

00:01:00.000 --> 00:02:00.000
the end
`;
    expect(cut(text, 5000, 60_000)).toEqual({
      hasCues: true,
      written: `WEBVTT - Film
Kind: captions

STYLE
::cue { color: lime }

1
00:00:00.000 --> 00:00:02.500\tposition:10% align:start
<v Anna>We <00:00:00.000>were <00:00:01.000>here

NOTE a comment

00:00:55.000 --> 00:01:00.000
the end

`,
    });
  });

  test('keep their first line when a cue follows at once', () => {
    const text = '\ufeffWEBVTT\n00:01.000 --> 00:02.000\ngone\n\n00:05.000 --> 00:06.000\nkept';
    const written = '\ufeffWEBVTT\n\n00:00:01.000 --> 00:00:02.000\nkept\n\n';
    expect(cut(text, 4000, 9000)).toEqual({ hasCues: true, written });
  });

  test('can have no cue in the range', () => {
    const { hasCues } = cut('WEBVTT\n\n00:01.000 --> 00:02.000\ngone\n\nnonsense --> x\n', 4000, 9000);
    expect(hasCues).toBe(false);
  });
});

describe('cues that ffmpeg wrote', () => {
  function shift(text: string, startMs: number, durationMs = Number.POSITIVE_INFINITY) {
    const { hasCues, written } = cutBy(new ConvertedCueCutter({ startMs, durationMs }), text);
    return hasCues ? written : undefined;
  }

  test('are moved to the start of the video, and cut to it', () => {
    const text = `WEBVTT

00:01.000 --> 00:02.500
before

00:02.000 --> 00:04.000
at the <i>start</i>

second line

27:00:00.000 --> 27:00:01.000
after
`;
    expect(shift(text, 2500, 5000)).toBe(`WEBVTT

00:00:00.000 --> 00:00:01.500
at the <i>start</i>
second line
`);
  });

  test('have only markup of WebVTT, and no text outside of cues', () => {
    const text = 'WEBVTT\nSTYLE\n\n00:01.000 --> 00:02.000\n<v Roger>a <x> < b --> c & d\n';
    expect(shift(text, 0)).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Roger>a &lt;x&gt; &lt; b --&gt; c &amp; d\n',
    );
  });

  test('can be missing', () => {
    expect(shift('WEBVTT\n\n00:01.000 --> 00:02.000\ntext\n', 5000)).toBeUndefined();
    expect(shift('', 0)).toBeUndefined();
  });
});
