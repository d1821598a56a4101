import { describe, expect, test } from 'vitest';
import type { ProbedStream } from '../../../src/ffmpeg/media-tools.ts';
import { cutWebVtt } from '../../../src/vod/captions/cut-web-vtt.ts';
import { shiftCues } from '../../../src/vod/captions/shift-cues.ts';
import {
  maxSubtitleTracks,
  planSubtitles,
  subtitleMetadata,
} from '../../../src/vod/captions/subtitle-plan.ts';

function subtitles(index: number, values: Partial<ProbedStream> = {}): ProbedStream {
  return { index, kind: 'subtitle', codec: 'subrip', isDefault: false, isCoverImage: false, ...values };
}

describe('subtitle tracks of a source', () => {
  test('become captions, one per language: the default, or one that is not for the hearing impaired', () => {
    const streams = [
      subtitles(2, { language: 'eng', isForHearingImpaired: true, title: 'English SDH' }),
      subtitles(3, { language: 'eng' }),
      subtitles(4, { language: 'ger' }),
      subtitles(5, { language: 'deu', isDefault: true }),
      subtitles(6, { language: 'fre', isForHearingImpaired: true }),
    ];
    const plans = planSubtitles(streams, []);
    expect(plans.filter(({ kind }) => kind === 'captions')).toEqual([
      { kind: 'captions', index: 3, language: 'en' },
      { kind: 'captions', index: 5, language: 'de' },
      { kind: 'captions', index: 6, language: 'fr' },
    ]);
    expect(subtitleMetadata(streams, plans)[0]).toEqual({
      ...{ codec: 'subrip', language: 'en', title: 'English SDH', status: 'skipped' },
      reason: 'Another track of this language is used.',
    });
  });

  test.each([
    ['bitmaps', { codec: 'hdmv_pgs_subtitle' }, /images/],
    ['other formats', { codec: 'dvb_teletext' }, /cannot be read/],
    ['forced ones', { isForced: true }, /other languages/],
    ['a language that captions cannot have', { language: 'fil' }, /not known/],
  ])('are skipped with a reason: %s', (_, values, reason) => {
    const [plan] = planSubtitles([subtitles(1, { language: 'eng', ...values })], []);
    expect(plan).toMatchObject({ kind: 'skipped', reason: expect.stringMatching(reason) });
  });

  test('without a language have that of the video, or else of its audio', () => {
    expect(planSubtitles([subtitles(1)], ['fr', 'eng'])).toMatchObject([{ language: 'fr' }]);
    expect(planSubtitles([subtitles(1)], [undefined, 'eng'])).toMatchObject([{ language: 'en' }]);
    expect(planSubtitles([subtitles(1)], [undefined, undefined])).toMatchObject([{ kind: 'skipped' }]);
  });

  test('are bounded', () => {
    const streams = Array.from({ length: 500 }, (_, index) => subtitles(index));
    expect(planSubtitles(streams, ['en'])).toHaveLength(maxSubtitleTracks);
  });
});

async function* linesOf(text: string) {
  yield* text.split('\n');
}

describe('WebVTT files', () => {
  async function cut(text: string, startMs: number, durationMs: number) {
    let written = '';
    const hasCues = await cutWebVtt(linesOf(text), { startMs, durationMs }, async more => {
      written += more;
    });
    return { hasCues, written };
  }

  test('are cut at the edges, with their styles, settings and karaoke', async () => {
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
    expect(await cut(text, 5000, 60_000)).toEqual({
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

  test('keep their first line when a cue follows at once', async () => {
    const text = '\ufeffWEBVTT\n00:01.000 --> 00:02.000\ngone\n\n00:05.000 --> 00:06.000\nkept';
    const written = '\ufeffWEBVTT\n\n00:00:01.000 --> 00:00:02.000\nkept\n\n';
    expect(await cut(text, 4000, 9000)).toEqual({ hasCues: true, written });
  });

  test('can have no cue in the range', async () => {
    const { hasCues } = await cut('WEBVTT\n\n00:01.000 --> 00:02.000\ngone\n\nnonsense --> x\n', 4000, 9000);
    expect(hasCues).toBe(false);
  });
});

describe('cues', () => {
  async function shift(text: string, startMs: number, durationMs = Number.POSITIVE_INFINITY) {
    let written = '';
    const hasCues = await shiftCues(linesOf(text), { startMs, durationMs }, async more => {
      written += more;
    });
    return hasCues ? written : undefined;
  }

  test('are moved to the start of the video, and cut to it', async () => {
    const text = `WEBVTT

00:01.000 --> 00:02.500
before

00:02.000 --> 00:04.000
at the <i>start</i>

second line

27:00:00.000 --> 27:00:01.000
after
`;
    expect(await shift(text, 2500, 5000)).toBe(`WEBVTT

00:00:00.000 --> 00:00:01.500
at the <i>start</i>
second line
`);
  });

  test('have only markup of WebVTT, and no text outside of cues', async () => {
    const text = 'WEBVTT\nSTYLE\n\n00:01.000 --> 00:02.000\n<v Roger>a <x> < b --> c & d\n';
    expect(await shift(text, 0)).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Roger>a &lt;x&gt; &lt; b --&gt; c &amp; d\n',
    );
  });

  test('can be missing', async () => {
    expect(await shift('WEBVTT\n\n00:01.000 --> 00:02.000\ntext\n', 5000)).toBeUndefined();
    expect(await shift('', 0)).toBeUndefined();
  });
});
