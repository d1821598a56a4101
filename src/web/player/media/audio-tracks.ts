import type Hls from 'hls.js';
import type { Events, MediaPlaylist } from 'hls.js';
import type { AudioChoice, PlayerSettings } from './player-settings.ts';

interface AudioOption {
  /** Valid until the next change. */
  readonly id: number;
  readonly label: string;
  readonly language: string;
  /** The channel layout, such as `5.1`, unless the label says so. */
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
    const tracks = this.#hls?.audioTracks ?? [];
    return distinctTracks(tracks).map(id => ({
      id,
      label: tracks[id]!.name,
      language: tracks[id]!.lang ?? '',
      hint: hintOf(tracks[id]!),
    }));
  }

  get chosen(): AudioOption | undefined {
    const { audioTracks = [], audioTrack = -1 } = this.#hls ?? {};
    const url = audioTracks[audioTrack]?.url;
    return this.options.find(({ id }) => id === audioTrack || audioTracks[id]?.url === url);
  }

  choose(id: number): void {
    const hls = this.#hls;
    const track = hls?.audioTracks[id];
    if (hls === undefined || track === undefined) return;
    const { name, lang: language = '' } = track;
    const channels = isStereo(track) ? undefined : track.channels;
    this.#settings.save({ audio: { language, name, channels } });
    hls.audioTrack = id;
    this.#onChange();
  }
}

/** Finds the same track in another video, by language and name, or else one of the same language. */
function preferredAudio(tracks: readonly Track[], choice: AudioChoice | undefined): number | undefined {
  if (choice === undefined) return undefined;
  const ofLanguage = ({ lang = '' }: Track) => lang === choice.language;
  const ofName = (track: Track) => ofLanguage(track) && track.name === choice.name;
  const ofChannels = (track: Track) =>
    choice.channels === undefined ? isStereo(track) : track.channels === choice.channels;
  const exact = tracks.findIndex(track => ofName(track) && ofChannels(track));
  const same = exact === -1 ? tracks.findIndex(ofName) : exact;
  const similar = same === -1 && isLanguage(choice.language) ? tracks.findIndex(ofLanguage) : same;
  return similar === -1 ? undefined : similar;
}

/** Indexes in the order of menus. Groups of stereo and of 5.1 share the renditions of tracks that have only one. */
function distinctTracks(tracks: readonly (Track & Pick<MediaPlaylist, 'url'>)[]): number[] {
  const first = tracks.flatMap((track, id) =>
    tracks.findIndex(({ url }) => url === track.url) === id ? [id] : [],
  );
  const placeOf = (id: number) => tracks.findIndex(({ name }) => name === tracks[id]!.name);
  return first.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function isStereo({ channels = '2' }: Track): boolean {
  return ['1', '2'].includes(channels.split('/')[0]!);
}

function isLanguage(tag: string): boolean {
  return tag !== '' && tag !== 'und';
}

function hintOf({ name, channels = '' }: Track): string | undefined {
  const layout = layouts[channels.split('/')[0] ?? ''];
  return layout === undefined || name.includes(layout) ? undefined : layout;
}
