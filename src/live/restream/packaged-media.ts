import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { audioRendition, sourceRendition } from '../broadcast/broadcast-subscriber.ts';
import type { Tracks } from '../packaging/packager.ts';
import { PackagedSamples } from './packaged-samples.ts';
import type { RestreamMedia } from './restream-feed.ts';

type TrackDescription = NonNullable<Tracks['video']>;

/** Turns packaged and encoded media of a broadcast into samples of its renditions, for destinations. */
export class PackagedMedia {
  readonly #onCodecs: (rendition: string, isSupported: boolean) => void;
  readonly #muxers = new Map<string, PackagedSamples>();
  readonly #packaged: Partial<Record<string, Tracks>> = {};
  readonly #encoded = new Map<string, TrackDescription>();

  constructor(onCodecs: (rendition: string, isSupported: boolean) => void) {
    this.#onCodecs = onCodecs;
  }

  add(rendition: string, onMedia: (media: RestreamMedia) => void): void {
    this.#muxers.set(rendition, new PackagedSamples(onMedia));
    this.#begin(rendition);
  }

  remove(rendition: string): void {
    this.#muxers.delete(rendition);
  }

  tracks(rendition: string, tracks: Tracks): void {
    if (!isPackaged(rendition)) return;
    this.#packaged[rendition] = tracks;
    for (const name of this.#muxers.keys()) this.#begin(name);
  }

  sample(rendition: string, kind: TrackKind, sample: Sample, atMs: number): void {
    if (this.#muxers.size === 0 || !isPackaged(rendition)) return;
    for (const [name, muxer] of this.#muxers) {
      if (kind === 'audio' || name === sourceRendition) muxer.add(kind, sample, atMs);
    }
  }

  encodedTrack(rendition: string, track: TrackDescription): void {
    this.#encoded.set(rendition, track);
    if (this.#muxers.has(rendition)) this.#begin(rendition);
  }

  encodedSample(rendition: string, sample: Sample, atMs: number): void {
    this.#muxers.get(rendition)?.add('video', sample, atMs);
  }

  flush(): void {
    for (const muxer of this.#muxers.values()) muxer.flush();
  }

  #begin(rendition: string): void {
    const tracks = { ...this.#packaged[audioRendition], ...this.#packaged[sourceRendition] };
    const video = rendition === sourceRendition ? tracks.video : this.#encoded.get(rendition);
    if (rendition !== sourceRendition && video === undefined) return;
    const { audio } = tracks;
    const chosen = { video, audio };
    const isSupported = this.#muxers.get(rendition)?.begin(chosen);
    if (isSupported !== undefined) this.#onCodecs(rendition, isSupported);
  }
}

/** Beside a ladder, audio is a rendition of its own. */
function isPackaged(rendition: string): boolean {
  return rendition === sourceRendition || rendition === audioRendition;
}
