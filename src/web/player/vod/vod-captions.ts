import type { PlayerSettings } from './player-settings.ts';
import type { VodTrack } from './vod-state.ts';

function linesAboveControls(heightPixels: number): number {
  // A line is about a twentieth of the height, the controls are about 110 pixels.
  return -Math.min(8, 1 + Math.ceil(110 / Math.max(1, heightPixels / 18)));
}

/** CSS is more reliable; other browsers move the lines of the cues. */
const isMovedByCss = CSS.supports('selector(video::-webkit-media-text-track-container)');

export class VodCaptions {
  readonly #video: HTMLVideoElement;
  readonly #settings: PlayerSettings;
  readonly #onChange: () => void;
  readonly #elements = new Map<string, HTMLTrackElement>();
  #tracks: readonly VodTrack[] = [];
  #language: string | undefined;
  #isRaised = false;

  constructor(video: HTMLVideoElement, settings: PlayerSettings, onChange: () => void) {
    this.#video = video;
    this.#settings = settings;
    this.#onChange = onChange;
    // Native menus, such as those of a phone's fullscreen player, may also choose.
    video.textTracks.addEventListener('change', () => this.#onTracksChanged());
  }

  get tracks(): readonly VodTrack[] {
    return this.#tracks;
  }

  get language(): string | undefined {
    return this.#language;
  }

  setTracks(tracks: readonly VodTrack[], isAsked: boolean): void {
    this.#tracks = tracks;
    for (const [src, element] of this.#elements) {
      if (tracks.some(track => track.src === src)) continue;
      element.remove();
      this.#elements.delete(src);
    }
    for (const track of tracks) {
      if (!this.#elements.has(track.src)) this.#elements.set(track.src, this.#add(track));
    }
    const isKept = tracks.some(({ language }) => language === this.#language);
    this.#show(isKept ? this.#language : this.#defaultLanguage(isAsked));
  }

  choose(language: string | undefined): void {
    const { captionLanguage } = this.#settings.current;
    this.#settings.save({
      hasCaptions: language !== undefined,
      captionLanguage: language ?? captionLanguage,
    });
    this.#show(language);
  }

  toggle(): void {
    this.choose(this.#language === undefined ? this.#preferredTrack()?.language : undefined);
  }

  /** Not stored. */
  setShown(isShown: boolean): void {
    this.#show(isShown ? (this.#language ?? this.#preferredTrack()?.language) : undefined);
  }

  raise(isRaised: boolean): void {
    if (isRaised === this.#isRaised) return;
    this.#isRaised = isRaised;
    for (const { track } of this.#elements.values()) this.#positionCues(track);
  }

  #add({ src, language, label }: VodTrack): HTMLTrackElement {
    const element = document.createElement('track');
    element.kind = 'subtitles';
    element.src = src;
    element.srclang = language;
    element.label = label;
    element.track.addEventListener('cuechange', () => this.#positionCues(element.track));
    this.#video.append(element);
    return element;
  }

  #positionCues({ activeCues }: TextTrack): void {
    if (isMovedByCss) return;
    const line = this.#isRaised ? linesAboveControls(this.#video.clientHeight) : 'auto';
    for (const cue of activeCues ?? []) {
      const { line: present } = cue as VTTCue;
      // Keeps the position of cues that define one. Ours are negative or `auto`.
      if (present === 'auto' || present < 0) (cue as VTTCue).line = line;
    }
  }

  #defaultLanguage(isAsked: boolean): string | undefined {
    const { hasCaptions } = this.#settings.current;
    if (isAsked || hasCaptions === true) return this.#preferredTrack()?.language;
    return hasCaptions === false ? undefined : this.#tracks.find(track => track.default)?.language;
  }

  #preferredTrack(): VodTrack | undefined {
    return preferredTrack(this.#tracks, [
      this.#settings.current.captionLanguage ?? '',
      ...navigator.languages,
    ]);
  }

  #show(language: string | undefined): void {
    this.#language = language;
    for (const { src, language: other } of this.#tracks) {
      const mode = other === language ? 'showing' : 'disabled';
      const track = this.#elements.get(src)?.track;
      if (track !== undefined && track.mode !== mode) track.mode = mode;
    }
    this.#hideOthers();
    this.#onChange();
  }

  /** Native players also show the captions of the playlist. */
  #hideOthers(): void {
    const own = new Set([...this.#elements.values()].map(({ track }) => track));
    for (const track of this.#video.textTracks) {
      if (!own.has(track) && track.mode === 'showing') track.mode = 'disabled';
    }
  }

  #onTracksChanged(): void {
    this.#hideOthers();
    const shown = this.#tracks.filter(({ src }) => this.#elements.get(src)?.track.mode === 'showing');
    const isKept = shown.some(({ language }) => language === this.#language);
    // Browsers show another track when tracks are added. A choice in a menu hides the previous one.
    if (isKept ? shown.length > 1 : shown.length > 0 || this.#language !== undefined) {
      this.#show(isKept ? this.#language : shown[0]?.language);
    }
  }
}

/** Prefers an exact match, then another region, then the default, then the first. */
export function preferredTrack(
  tracks: readonly VodTrack[],
  languages: readonly string[],
): VodTrack | undefined {
  const primary = (tag: string) => tag.split('-')[0]!.toLowerCase();
  for (const wanted of languages) {
    const found =
      tracks.find(({ language }) => language.toLowerCase() === wanted.toLowerCase()) ??
      tracks.find(({ language }) => wanted !== '' && primary(language) === primary(wanted));
    if (found !== undefined) return found;
  }
  return tracks.find(track => track.default) ?? tracks[0];
}
