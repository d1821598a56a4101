import { parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { canonicalLanguageTag, nativeLanguageName } from '../../shared/text/language-tag.ts';
import type { AudioTrack } from '../encoding-repository.ts';
import type { PlayableRendition } from './rendition-record.ts';

interface ListedAudio {
  readonly rendition: PlayableRendition;
  readonly name: string;
  readonly language: string;
  readonly isDefault: boolean;
  readonly isAutoselect: boolean;
  readonly channels?: number;
  readonly characteristics?: string;
}

/** Of a single track, which needs no name. */
const singleName = 'Main';
/** Required by Apple's specification (8.10), even if unknown. */
const unknownLanguage = 'und';
const surroundSuffix = '5.1';
/** draft-pantos-hls-rfc8216bis-22, 4.4.6.1, CHARACTERISTICS. */
const descriptionCharacteristic = 'public.accessibility.describes-video';

/**
 * Audio renditions in the order of menus, stereo before 5.1. One is the default. The first rendition of each language may be
 * selected by players, so that none begins with 5.1 or a commentary (4.4.6.1.1).
 */
export function listedAudio(
  renditions: readonly PlayableRendition[],
  tracks: readonly AudioTrack[],
  videoLanguage: string | undefined,
): ListedAudio[] {
  const found = renditions
    .flatMap(rendition => {
      const parsed = rendition.record.kind === 'audio' ? parseAudioRenditionName(rendition.name) : undefined;
      return parsed === undefined ? [] : [{ rendition, ...parsed }];
    })
    .toSorted(
      (one, other) =>
        placeOf(one.track, tracks) - placeOf(other.track, tracks) ||
        Number(one.isSurround) - Number(other.isSurround),
    );
  const isSingle = new Set(found.map(({ track }) => track)).size === 1;
  const listed: ListedAudio[] = [];
  const defaultTrack = defaultTrackOf(
    found.map(({ track }) => track),
    tracks,
  );
  for (const { rendition, track, isSurround } of found) {
    const known = tracks.find(one => one.track === track);
    const { channels } = rendition.record;
    const language = languageOf(
      known,
      rendition,
      isSingle || track === 1 ? videoLanguage : undefined,
      isSingle,
    );
    const name = known?.name ?? (isSingle ? singleName : nameOf(language, track));
    const characteristics = known?.isDescription === true ? descriptionCharacteristic : undefined;
    const isDefault = track === defaultTrack && !listed.some(one => one.isDefault);
    listed.push({
      rendition,
      name: uniqueName(isSurround ? `${name} ${surroundSuffix}` : name, listed),
      language,
      isDefault,
      isAutoselect:
        !listed.some(
          one => one.isAutoselect && one.language === language && one.characteristics === characteristics,
        ) &&
        (isDefault || !isSurround),
      ...(channels === undefined ? {} : { channels }),
      ...(characteristics === undefined ? {} : { characteristics }),
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
  { record }: PlayableRendition,
  videoLanguage: string | undefined,
  isSingle: boolean,
): string {
  const own = known?.language ?? canonicalLanguageTag(record.language ?? '');
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
