import type { AudioTrack, VideoRendition, VideoTrack } from 'media-tracks';
import type { PlayerSource } from './player-source.ts';

/** The parts of `media-tracks` that the lists use. */
export interface TracksHost {
  addVideoTrack(kind: string): VideoTrack;
  addAudioTrack(kind: string, label?: string, language?: string): AudioTrack;
  removeVideoTrack(track: VideoTrack): void;
  removeAudioTrack(track: AudioTrack): void;
  readonly videoRenditions: EventTarget & Iterable<VideoRendition> & { selectedIndex: number };
  readonly audioTracks: EventTarget & Iterable<AudioTrack>;
}

/** Keeps the lists of renditions and audio tracks, from which viewers choose, equal to those of the source. */
export class MediaLists {
  readonly #host: TracksHost;
  readonly #source: () => PlayerSource | undefined;
  #track: VideoTrack | undefined;
  #qualities = '';
  #audio = '';
  #audioTracks: AudioTrack[] = [];
  /** Changes are ours, and no choice of the viewer. */
  #isUpdating = false;

  constructor(host: TracksHost, source: () => PlayerSource | undefined) {
    this.#host = host;
    this.#source = source;
    host.videoRenditions.addEventListener('change', () => this.#onRenditionChange());
    host.audioTracks.addEventListener('change', () => this.#onAudioChange());
  }

  update(): void {
    this.#updateRenditions();
    this.#updateAudio();
  }

  #updateRenditions(): void {
    const source = this.#source();
    const qualities = source?.qualities ?? [];
    const key = JSON.stringify(qualities);
    if (key !== this.#qualities) {
      this.#qualities = key;
      if (this.#track !== undefined) this.#host.removeVideoTrack(this.#track);
      this.#track = undefined;
      if (qualities.length > 0) {
        const track = this.#host.addVideoTrack('main');
        track.selected = true;
        for (const { label, width, height, bitsPerSecond } of qualities) {
          const rendition = track.addRendition(label, width, height, undefined, bitsPerSecond);
          Object.assign(rendition, { id: label, label });
        }
        this.#track = track;
      }
    }
    const chosen = qualities.findIndex(({ label }) => label === source?.chosenQuality);
    if (this.#host.videoRenditions.selectedIndex !== chosen)
      this.#host.videoRenditions.selectedIndex = chosen;
  }

  #updateAudio(): void {
    const source = this.#source();
    const options = source?.latency?.isUltraLow === true ? [] : (source?.audioTracks.options ?? []);
    const key = JSON.stringify(options);
    const chosen = source?.audioTracks.chosen?.id;
    this.#isUpdating = true;
    if (key !== this.#audio) {
      this.#audio = key;
      for (const track of this.#audioTracks) this.#host.removeAudioTrack(track);
      // A single track is no choice.
      this.#audioTracks = (options.length < 2 ? [] : options).map(({ id, label, language, hint }) => {
        const track = this.#host.addAudioTrack(
          'main',
          hint === undefined ? label : `${label} (${hint})`,
          language,
        );
        track.id = String(id);
        return track;
      });
    }
    for (const track of this.#audioTracks) track.enabled = track.id === String(chosen);
    queueMicrotask(() => {
      this.#isUpdating = false;
    });
  }

  #onRenditionChange(): void {
    const source = this.#source();
    const { selectedIndex } = this.#host.videoRenditions;
    const label = source?.qualities[selectedIndex]?.label;
    if (source !== undefined && label !== source.chosenQuality) source.chooseQuality(label);
  }

  #onAudioChange(): void {
    const { audioTracks } = this.#source() ?? {};
    if (this.#isUpdating || audioTracks === undefined) return;
    const chosen = String(audioTracks.chosen?.id);
    const wanted = this.#audioTracks.find(({ id, enabled }) => enabled && id !== chosen);
    if (wanted !== undefined) audioTracks.choose(Number(wanted.id));
  }
}
