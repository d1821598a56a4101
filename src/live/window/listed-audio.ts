import type { AudioLabel } from '../../media/samples/declared-media.ts';
import { canonicalLanguageTag, nativeLanguageName } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';

export interface ListedTrackLabel extends AudioLabel {
  readonly default?: boolean | undefined;
  /** Place in menus, from 1. */
  readonly position?: number | undefined;
}

interface ListedAudioLabel {
  readonly name: string;
  readonly language: string;
  readonly isDefault: boolean;
  readonly isAutoselect: boolean;
}

/** Name of a single track, which needs none. */
const singleName = 'Main';
/** Required by Apple's specification (8.10), even if unknown. */
const unknownLanguage = 'und';

/**
 * The labels of tracks, by track, in the order of menus. Names are unique, and players select a language by themselves
 * with its first track, or the default one, only (draft-pantos-hls-rfc8216bis-22, 4.4.6.1.1).
 */
export function listedAudioLabels(
  trackIds: readonly number[],
  labelOf: (trackId: number) => ListedTrackLabel | undefined,
): Map<number, ListedAudioLabel> {
  const listed = new Map<number, ListedAudioLabel>();
  const isUsed = (matches: (label: ListedAudioLabel) => boolean) => [...listed.values()].some(matches);
  const placeOf = (trackId: number) => labelOf(trackId)?.position ?? trackId + 1;
  const languageOf = (trackId: number) =>
    canonicalLanguageTag(labelOf(trackId)?.language ?? '') ?? unknownLanguage;
  const defaultId = trackIds.find(trackId => labelOf(trackId)?.default) ?? Math.min(...trackIds);
  const ordered = trackIds.toSorted((one, other) => placeOf(one) - placeOf(other) || one - other);
  for (const trackId of ordered) {
    const label = labelOf(trackId);
    const language = languageOf(trackId);
    const isDefault = trackId === defaultId;
    const wanted = trackTitle(label?.name) ?? defaultName(trackId, language, trackIds.length === 1);
    listed.set(trackId, {
      name: isUsed(({ name }) => name === wanted) ? `${wanted} (${trackId + 1})` : wanted,
      language,
      isDefault,
      isAutoselect:
        isDefault || (language !== languageOf(defaultId) && !isUsed(other => other.language === language)),
    });
  }
  return listed;
}

function defaultName(trackId: number, language: string, isSingle: boolean): string {
  if (language !== unknownLanguage) return nativeLanguageName(language);
  return isSingle ? singleName : `Audio ${trackId + 1}`;
}
