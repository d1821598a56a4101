import { describe, expect, test } from 'vitest';
import type { ProbedStream } from '../../../src/ffmpeg/media-tools.ts';
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
      codec: 'subrip',
      language: 'en',
      title: 'English SDH',
      status: 'skipped',
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
