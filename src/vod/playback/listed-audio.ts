import { parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { canonicalLanguageTag, nativeLanguageName } from '../../shared/text/language-tag.ts';
import type { AudioTrack } from '../encoding-repository.ts';
import type { PlayableRendition } from './rendition-record.ts';

/** A track, in stereo, 5.1 or both. */
export interface ListedAudio {
  readonly stereo: PlayableRendition | undefined;
  readonly surround: PlayableRendition | undefined;
  readonly name: string;
  readonly language: string;
  readonly isDefault: boolean;
  readonly isAutoselect: boolean;
  readonly characteristics?: string;
}

/** Name of a single track, which needs none. */
const singleName = 'Main';
/** Required by Apple's specification (8.10), even if unknown. */
const unknownLanguage = 'und';
/** draft-pantos-hls-rfc8216bis-22, 4.4.6.1, CHARACTERISTICS. */
const descriptionCharacteristic = 'public.accessibility.describes-video';

/**
 * Audio tracks in the order of menus. One is the default. The first of each language may be selected by players, so that
 * none begins with a commentary (4.4.6.1.1).
 */
export function listedAudio(
  renditions: readonly PlayableRendition[],
  tracks: readonly AudioTrack[],
  videoLanguage: string | undefined,
): ListedAudio[] {
  const found = renditions.flatMap(rendition => {
    const parsed = rendition.record.kind === 'audio' ? parseAudioRenditionName(rendition.name) : undefined;
    return parsed === undefined ? [] : [{ rendition, ...parsed }];
  });
  const numbers = [...new Set(found.map(({ track }) => track))].toSorted(
    (one, other) => placeOf(one, tracks) - placeOf(other, tracks),
  );
  const isSingle = numbers.length === 1;
  const listed: ListedAudio[] = [];
  const defaultTrack = defaultTrackOf(numbers, tracks);
  for (const track of numbers) {
    const known = tracks.find(one => one.track === track);
    const ofTrack = found.filter(one => one.track === track);
    const stereo = ofTrack.find(({ isSurround }) => !isSurround)?.rendition;
    const surround = ofTrack.find(({ isSurround }) => isSurround)?.rendition;
    const language = languageOf(
      known,
      stereo ?? surround,
      isSingle || track === 1 ? videoLanguage : undefined,
      isSingle,
    );
    const name = known?.name ?? (isSingle ? singleName : nameOf(language, track));
    const characteristics = known?.isDescription === true ? descriptionCharacteristic : undefined;
    listed.push({
      stereo,
      surround,
      name: uniqueName(name, listed),
      language,
      isDefault: track === defaultTrack,
      isAutoselect: !listed.some(
        one => one.isAutoselect && one.language === language && one.characteristics === characteristics,
      ),
      characteristics,
    });
  }
  return listed;
}

function placeOf(track: number, tracks: readonly AudioTrack[]): number {
  const place = tracks.findIndex(one => one.track === track);
  return place === -1 ? tracks.length + track : place;
}

function defaultTrackOf(playable: readonly number[], tracks: readonly AudioTrack[]): number | undefined {
  const wanted = tracks.find(({ isDefault }) => isDefault)?.track;
  return wanted !== undefined && playable.includes(wanted) ? wanted : playable[0];
}

/** The language of the video is that of a single track, and of the first one if it has no other. */
function languageOf(
  known: AudioTrack | undefined,
  rendition: PlayableRendition | undefined,
  videoLanguage: string | undefined,
  isSingle: boolean,
): string {
  const own = known?.language ?? canonicalLanguageTag(rendition?.record.language ?? '');
  return (isSingle ? (videoLanguage ?? own) : (own ?? videoLanguage)) ?? unknownLanguage;
}

function nameOf(language: string, track: number): string {
  return language === unknownLanguage ? `Audio ${track}` : nativeLanguageName(language);
}

/** 4.4.6.1.1: names in a group are unique. */
function uniqueName(name: string, before: readonly { readonly name: string }[]): string {
  const isTaken = (wanted: string) => before.some(other => other.name === wanted);
  if (!isTaken(name)) return name;
  for (let number = 2; ; number++) {
    const numbered = `${name} (${number})`;
    if (!isTaken(numbered)) return numbered;
  }
}
