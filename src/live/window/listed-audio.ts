import type { AudioLabel } from '../../media/flv/declared-media.ts';
import { canonicalLanguageTag, nativeLanguageName } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';

interface ListedAudioLabel {
  readonly name: string;
  readonly language: string;
  readonly isDefault: boolean;
  readonly isAutoselect: boolean;
}

/** Of a single track, which needs no name. */
const singleName = 'Main';
/** Required by Apple's specification (8.10), even if unknown. */
const unknownLanguage = 'und';

/**
 * The labels of tracks, by track. Names are unique, and players select a language by themselves with its first track only
 * (draft-pantos-hls-rfc8216bis-22, 4.4.6.1.1).
 * @param trackIds the main one, 0, first
 */
export function listedAudioLabels(
  trackIds: readonly number[],
  labelOf: (trackId: number) => AudioLabel | undefined,
): Map<number, ListedAudioLabel> {
  const listed = new Map<number, ListedAudioLabel>();
  const isUsed = (matches: (label: ListedAudioLabel) => boolean) => [...listed.values()].some(matches);
  for (const trackId of trackIds) {
    const label = labelOf(trackId);
    const language = canonicalLanguageTag(label?.language ?? '') ?? unknownLanguage;
    const wanted = trackTitle(label?.name) ?? defaultName(trackId, language, trackIds.length === 1);
    listed.set(trackId, {
      name: isUsed(({ name }) => name === wanted) ? `${wanted} (${trackId + 1})` : wanted,
      language,
      isDefault: listed.size === 0,
      isAutoselect: !isUsed(other => other.language === language),
    });
  }
  return listed;
}

function defaultName(trackId: number, language: string, isSingle: boolean): string {
  if (language !== unknownLanguage) return nativeLanguageName(language);
  return isSingle ? singleName : `Audio ${trackId + 1}`;
}
