import type { CodecConfig, MediaSample, TrackKind } from '../../media/samples/media-sample.ts';

/** A configuration, or a sample of a codec that has none. */
type FirstMedia = MediaSample | CodecConfig;

/** The format of the media. Another one needs a new connection. Compared by identity. */
export type MediaFormat = Readonly<Partial<Record<TrackKind, FirstMedia>>>;

/** Samples of one track alone after which a reconnected publisher no longer sends the other. */
const minSamplesAlone = 200;

/** A second of audio alone means no video. */
const minAudioSamplesAlone = 50;

/** Follows the tracks and decoder configurations. */
export class RestreamFormat {
  /** Samples of the other track since the reconnect, for tracks of the previous connection. */
  readonly #unconfirmed = new Map<TrackKind, number>();
  #audioSamples = 0;
  #current: MediaFormat = {};

  get current(): MediaFormat {
    return this.#current;
  }

  get isAudioOnly(): boolean {
    return this.#current.video === undefined && this.#audioSamples >= minAudioSamplesAlone;
  }

  /** The next publisher may have fewer tracks. */
  publisherGone(): void {
    for (const kind of Object.keys(this.#current) as TrackKind[]) this.#unconfirmed.set(kind, 0);
  }

  update(media: FirstMedia): void {
    const { kind, codec, data } = media;
    if (this.#unconfirmed.size > 0) this.#confirm(kind);
    const known = kind === 'video' ? this.#current.video : this.#current.audio;
    if (media.type === 'config') {
      if (known?.type !== 'config' || known.codec !== codec || !known.data.equals(data))
        this.#setTrack(kind, media);
      return;
    }
    if (kind === 'video') return;
    this.#audioSamples = Math.min(this.#audioSamples + 1, minAudioSamplesAlone);
    // Audio with a configuration is identified by that.
    if (known === undefined || (known.type === 'sample' && !isSameFormat(known, media)))
      this.#setTrack(kind, media);
  }

  #confirm(kind: TrackKind): void {
    this.#unconfirmed.delete(kind);
    for (const [other, alone] of this.#unconfirmed) {
      this.#unconfirmed.set(other, alone + 1);
      if (alone + 1 < minSamplesAlone) continue;
      this.#unconfirmed.delete(other);
      this.#setTrack(other, undefined);
    }
  }

  #setTrack(kind: TrackKind, first: FirstMedia | undefined): void {
    const { [kind]: _, ...others } = this.#current;
    this.#current = first === undefined ? others : { ...others, [kind]: first };
  }
}

/** The first byte of FLV says more than the codec: sample rate, size and channels. */
function isSameFormat(one: FirstMedia, other: FirstMedia): boolean {
  return one.codec.name === other.codec.name && one.tagBody?.[0] === other.tagBody?.[0];
}
