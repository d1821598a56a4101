import type { Caption, CaptionFile } from './caption-file.ts';
import type { PlayerSettings } from './player-settings.ts';

function linesAboveControls(heightPixels: number): number {
  // A line is about a twentieth of the height, the controls are about 110 pixels.
  return -Math.min(8, 1 + Math.ceil(110 / Math.max(1, heightPixels / 18)));
}

/** CSS is more reliable; other browsers move the lines of the cues. */
const isMovedByCss = CSS.supports('selector(video::-webkit-media-text-track-container)');

/** One track per language: an uploaded file, or else CEA-608 captions that hls.js found in the video. */
export class Captions {
  readonly #video: HTMLVideoElement;
  readonly #settings: PlayerSettings;
  readonly #onChange: () => void;
  readonly #elements = new Map<string, HTMLTrackElement>();
  #files: readonly CaptionFile[] = [];
  #isAsked = false;
  #language: string | undefined;
  #isRaised = false;

  constructor(video: HTMLVideoElement, settings: PlayerSettings, onChange: () => void, signal?: AbortSignal) {
    this.#video = video;
    this.#settings = settings;
    this.#onChange = onChange;
    // Native menus, such as those of a phone's fullscreen player, may also choose.
    video.textTracks.addEventListener('change', () => this.#onTracksChanged(), { signal });
    const onListChange = ({ track }: TrackEvent) => {
      if (track !== null && isInBand(track)) this.#update();
    };
    video.textTracks.addEventListener('addtrack', onListChange, { signal });
    video.textTracks.addEventListener('removetrack', onListChange, { signal });
    signal?.addEventListener('abort', () => this.setTracks([], false));
  }

  get tracks(): readonly Caption[] {
    return this.#shownTracks();
  }

  get language(): string | undefined {
    return this.#language;
  }

  setTracks(files: readonly CaptionFile[], isAsked: boolean): void {
    this.#files = files;
    this.#isAsked = isAsked;
    for (const [src, element] of this.#elements) {
      if (files.some(file => file.src === src)) continue;
      element.remove();
      this.#elements.delete(src);
    }
    for (const file of files) {
      if (!this.#elements.has(file.src)) this.#elements.set(file.src, this.#add(file));
    }
    this.#update();
  }

  choose(language: string | undefined): void {
    const { captionLanguage } = this.#settings.current;
    this.#settings.save({
      hasCaptions: language !== undefined,
      captionLanguage: language ?? captionLanguage,
    });
    this.#show(language);
  }

  /** Returns undefined without captions, or else whether they are shown now. */
  toggle(): boolean | undefined {
    if (this.#shownTracks().length === 0) return undefined;
    this.choose(this.#language === undefined ? this.#preferred()?.language : undefined);
    return this.#language !== undefined;
  }

  /** Shows or hides captions; the choice is not stored. */
  setShown(isShown: boolean): void {
    this.#show(isShown ? (this.#language ?? this.#preferred()?.language) : undefined);
  }

  raise(isRaised: boolean): void {
    if (isRaised === this.#isRaised) return;
    this.#isRaised = isRaised;
    for (const { track } of this.#elements.values()) this.#positionCues(track);
  }

  #add({ src, language, label }: CaptionFile): HTMLTrackElement {
    const element = document.createElement('track');
    element.kind = 'subtitles';
    element.src = src;
    element.srclang = language;
    element.label = label;
    element.track.addEventListener('cuechange', () => this.#positionCues(element.track));
    this.#video.append(element);
    return element;
  }

  #shownTracks(): (Caption & { readonly textTrack: TextTrack })[] {
    const files = this.#files.flatMap(file => {
      const textTrack = this.#elements.get(file.src)?.track;
      return textTrack === undefined ? [] : [{ ...file, textTrack }];
    });
    const isTaken = (language: string) => files.some(file => file.language === language);
    const inBand = [...this.#video.textTracks].filter(isInBand).map(textTrack => ({
      language: textTrack.language || textTrack.label,
      label: textTrack.label,
      default: false,
      textTrack,
    }));
    return [...files, ...inBand.filter(({ language }) => !isTaken(language))];
  }

  #update(): void {
    const isKept = this.#shownTracks().some(({ language }) => language === this.#language);
    this.#show(isKept ? this.#language : this.#defaultLanguage());
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

  #defaultLanguage(): string | undefined {
    const { hasCaptions } = this.#settings.current;
    if (this.#isAsked || hasCaptions === true) return this.#preferred()?.language;
    return hasCaptions === false ? undefined : this.#files.find(file => file.default)?.language;
  }

  #preferred(): Caption | undefined {
    return preferredTrack(this.#shownTracks(), [
      this.#settings.current.captionLanguage ?? '',
      ...navigator.languages,
    ]);
  }

  #show(language: string | undefined): void {
    this.#language = language;
    for (const { textTrack, language: other } of this.#shownTracks()) {
      const mode = other === language ? 'showing' : isInBand(textTrack) ? 'hidden' : 'disabled';
      if (textTrack.mode !== mode) textTrack.mode = mode;
    }
    this.#hideOthers();
    this.#onChange();
  }

  /** Native players also show the captions of the playlist. */
  #hideOthers(): void {
    const own = new Set(this.#shownTracks().map(({ textTrack }) => textTrack));
    for (const track of this.#video.textTracks) {
      if (!own.has(track) && track.mode === 'showing') track.mode = 'disabled';
    }
  }

  #onTracksChanged(): void {
    this.#hideOthers();
    const shown = this.#shownTracks().filter(({ textTrack }) => textTrack.mode === 'showing');
    const isKept = shown.some(({ language }) => language === this.#language);
    // Browsers show another track when tracks are added. A choice in a menu hides the previous one.
    if (isKept ? shown.length > 1 : shown.length > 0 || this.#language !== undefined) {
      this.#show(isKept ? this.#language : shown[0]?.language);
    }
  }
}

/** Uploaded files are subtitles. */
function isInBand({ kind }: TextTrack): boolean {
  return kind === 'captions';
}

/** Prefers an exact match, then another region, then the default, then the first. */
export function preferredTrack<Track extends Caption>(
  tracks: readonly Track[],
  languages: readonly string[],
): Track | undefined {
  const primary = (tag: string) => tag.split('-')[0]!.toLowerCase();
  for (const wanted of languages) {
    const found =
      tracks.find(({ language }) => language.toLowerCase() === wanted.toLowerCase()) ??
      tracks.find(({ language }) => wanted !== '' && primary(language) === primary(wanted));
    if (found !== undefined) return found;
  }
  return tracks.find(track => track.default) ?? tracks[0];
}
