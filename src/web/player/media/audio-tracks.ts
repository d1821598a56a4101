import type Hls from 'hls.js';
import type { Events, MediaPlaylist } from 'hls.js';
import type { AudioChoice, PlayerSettings } from './player-settings.ts';

interface AudioOption {
  /** Valid until the next change. */
  readonly id: number;
  readonly label: string;
  readonly language: string;
  /** Such as `5.1`, unless the label says so. */
  readonly hint: string | undefined;
}

type Track = Pick<MediaPlaylist, 'name' | 'lang' | 'channels'>;

const layouts: Readonly<Record<string, string>> = { '6': '5.1', '8': '7.1' };

/** Audio renditions of the loaded media, and the viewer's choice among them. */
export class AudioTracks {
  readonly #settings: PlayerSettings;
  readonly #onChange: () => void;
  #hls: Hls | undefined;

  constructor(settings: PlayerSettings, onChange: () => void) {
    this.#settings = settings;
    this.#onChange = onChange;
  }

  /** Call it before the media is loaded. The choice applies before another track is fetched. */
  attach(hls: Hls, events: typeof Events): void {
    this.#hls = hls;
    hls.on(events.AUDIO_TRACKS_UPDATED, (_, { audioTracks }) => {
      const wanted = preferredAudio(audioTracks, this.#settings.current.audio);
      if (wanted !== undefined && hls === this.#hls) hls.audioTrack = wanted;
      this.#onChange();
    });
    hls.on(events.AUDIO_TRACK_SWITCHING, () => this.#onChange());
  }

  get options(): AudioOption[] {
    return (this.#hls?.audioTracks ?? []).map((track, id) => ({
      id,
      label: track.name,
      language: track.lang ?? '',
      hint: hintOf(track),
    }));
  }

  get chosen(): AudioOption | undefined {
    return this.options[this.#hls?.audioTrack ?? -1];
  }

  choose(id: number): void {
    const hls = this.#hls;
    const option = this.options[id];
    if (hls === undefined || option === undefined) return;
    this.#settings.save({ audio: { language: option.language, name: option.label } });
    hls.audioTrack = id;
    this.#onChange();
  }
}

/** The same track of another video has the same language and name. Otherwise, one of the same language. */
export function preferredAudio(
  tracks: readonly Track[],
  choice: AudioChoice | undefined,
): number | undefined {
  if (choice === undefined) return undefined;
  const ofLanguage = ({ lang = '' }: Track) => lang === choice.language;
  const same = tracks.findIndex(track => ofLanguage(track) && track.name === choice.name);
  const similar = same === -1 && isLanguage(choice.language) ? tracks.findIndex(ofLanguage) : same;
  return similar === -1 ? undefined : similar;
}

function isLanguage(tag: string): boolean {
  return tag !== '' && tag !== 'und';
}

function hintOf({ name, channels = '' }: Track): string | undefined {
  const layout = layouts[channels.split('/')[0] ?? ''];
  return layout === undefined || name.includes(layout) ? undefined : layout;
}
