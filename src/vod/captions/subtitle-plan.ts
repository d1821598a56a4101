import type { ProbedStream } from '../../ffmpeg/media-tools.ts';
import { canonicalLanguageTag, normalizeLanguageTag } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';

export type SubtitlePlan =
  | { readonly kind: 'captions'; readonly index: number; readonly language: string }
  | { readonly kind: 'skipped'; readonly index: number; readonly reason: string };

/** Subtitle track for the status of the video. */
export interface SubtitleMetadata {
  readonly codec: string;
  readonly language: string | null;
  readonly title: string | null;
  readonly status: 'captions' | 'skipped';
  /** A sentence; null for captions. */
  readonly reason: string | null;
}

/** Subtitle tracks of a source that are looked at. */
export const maxSubtitleTracks = 32;

const textCodecs: ReadonlySet<string> = new Set([
  ...['subrip', 'srt', 'ass', 'ssa', 'webvtt', 'mov_text', 'text', 'hdmv_text_subtitle', 'eia_608'],
]);
const bitmapCodecs: ReadonlySet<string> = new Set([
  ...['hdmv_pgs_subtitle', 'dvd_subtitle', 'dvb_subtitle', 'xsub'],
]);
const reasons = {
  bitmap: 'The subtitles are images. Upload them as text.',
  unknown: 'The subtitles are in a format that cannot be read.',
  forced: 'The subtitles are forced: they only cover parts in other languages.',
  noLanguage:
    'The language is not known. Set the language of the video before the upload, or upload the file as captions.',
  another: 'Another track of this language is used.',
} as const;

/**
 * Captions have one track per language: the default one, or else the first that is not for the hearing impaired, or else the
 * first. Tracks without a language have that of the video or its audio.
 */
export function planSubtitles(
  streams: readonly ProbedStream[],
  otherLanguages: readonly (string | undefined)[],
): SubtitlePlan[] {
  const subtitles = subtitlesOf(streams);
  const usable = subtitles
    .map(stream => ({ stream, language: captionLanguage([stream.language, ...otherLanguages]) }))
    .filter(({ stream, language }) => language !== undefined && refusalOf(stream) === undefined)
    .toSorted((one, other) => preferenceOf(one.stream) - preferenceOf(other.stream));
  return subtitles.map((stream): SubtitlePlan => {
    const { index } = stream;
    const skipped = (reason: string) => ({ kind: 'skipped', index, reason }) as const;
    const refusal = refusalOf(stream);
    if (refusal !== undefined) return skipped(refusal);
    const language = captionLanguage([stream.language, ...otherLanguages]);
    if (language === undefined) return skipped(reasons.noLanguage);
    const isChosen = usable.find(one => one.language === language)?.stream === stream;
    return isChosen ? { kind: 'captions', index, language } : skipped(reasons.another);
  });
}

export function subtitleMetadata(
  streams: readonly ProbedStream[],
  plans: readonly SubtitlePlan[],
): SubtitleMetadata[] {
  return plans.map(plan => {
    const stream = streams.find(({ index }) => index === plan.index);
    return {
      codec: stream?.codec ?? 'unknown',
      language: plan.kind === 'captions' ? plan.language : (captionLanguage([stream?.language]) ?? null),
      title: trackTitle(stream?.title) ?? null,
      status: plan.kind,
      reason: plan.kind === 'captions' ? null : plan.reason,
    };
  });
}

function subtitlesOf(streams: readonly ProbedStream[]): ProbedStream[] {
  return streams.filter(({ kind }) => kind === 'subtitle').slice(0, maxSubtitleTracks);
}

function refusalOf({ codec, isForced }: ProbedStream): string | undefined {
  if (bitmapCodecs.has(codec)) return reasons.bitmap;
  if (!textCodecs.has(codec)) return reasons.unknown;
  return isForced === true ? reasons.forced : undefined;
}

function preferenceOf({ isDefault, isForHearingImpaired = false }: ProbedStream): number {
  return isDefault ? 0 : isForHearingImpaired ? 2 : 1;
}

/** Finds the first known language that captions can have. */
function captionLanguage(languages: readonly (string | undefined)[]): string | undefined {
  const tags = languages.map(language => language && canonicalLanguageTag(language));
  const known = tags.find(tag => tag !== undefined && tag !== '');
  return known === undefined ? undefined : normalizeLanguageTag(known);
}
