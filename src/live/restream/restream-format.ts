import type { RestreamTag, TrackKind } from '../../media/flv/flv-tag.ts';

interface TrackFormat {
  /** Differs where a decoder has to be set up anew. */
  readonly sign: string;
  /** The tag that sets it up; some sound needs none. */
  readonly config: Buffer | undefined;
}

/** A publisher that came back and sends so many tags of one track alone has given the other one up. */
const tagsAlone = 200;

/** An encoder that sends so many tags of sound and no picture sends no picture: a second of them. */
const soundTagsAlone = 50;

/** What the media of a broadcast consists of, by its tags. */
export class RestreamFormat {
  readonly #tracks: Partial<Record<TrackKind, TrackFormat>> = {};
  /** Tags of a track since a publisher came back, for a track of which the publisher before said what it is. */
  readonly #unconfirmed = new Map<TrackKind, number>();
  #soundTags = 0;

  /** Differs where a destination has to be told anew what comes. */
  get fingerprint(): string {
    return `${this.#tracks.video?.sign ?? ''} ${this.#tracks.audio?.sign ?? ''}`;
  }

  get hasVideo(): boolean {
    return this.#tracks.video !== undefined;
  }

  get hasAudio(): boolean {
    return this.#tracks.audio !== undefined;
  }

  /** There is sound, and no picture is to be waited for. */
  get isAudioOnly(): boolean {
    return !this.hasVideo && this.#soundTags >= soundTagsAlone;
  }

  /** Decoder configuration, in the order in which it is to be sent. */
  get configs(): (readonly [kind: TrackKind, body: Buffer])[] {
    return (['video', 'audio'] as const).flatMap(kind => {
      const config = this.#tracks[kind]?.config;
      return config === undefined ? [] : [[kind, config] as const];
    });
  }

  /** Whoever publishes next may have fewer tracks. */
  publisherGone(): void {
    for (const kind of Object.keys(this.#tracks) as TrackKind[]) this.#unconfirmed.set(kind, 0);
  }

  /** Learns from a tag. */
  update({ kind, role, body }: RestreamTag): void {
    if (this.#unconfirmed.size > 0) this.#confirm(kind);
    if (role === 'config') {
      this.#tracks[kind] = { sign: body.toString('latin1'), config: body };
      return;
    }
    if (kind === 'video') return;
    this.#soundTags = Math.min(this.#soundTags + 1, soundTagsAlone);
    const sign = String(body[0]);
    const known = this.#tracks.audio;
    // Sound of which the configuration came is told apart by that.
    if (known === undefined || (known.config === undefined && known.sign !== sign)) {
      this.#tracks.audio = { sign, config: undefined };
    }
  }

  #confirm(kind: TrackKind): void {
    this.#unconfirmed.delete(kind);
    for (const [other, alone] of this.#unconfirmed) {
      this.#unconfirmed.set(other, alone + 1);
      if (alone + 1 < tagsAlone) continue;
      this.#unconfirmed.delete(other);
      delete this.#tracks[other];
    }
  }
}
