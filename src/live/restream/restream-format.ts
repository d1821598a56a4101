import type { RestreamTag, TrackKind } from '../../media/flv/flv-tag.ts';

interface TrackFormat {
  /** Changes when decoders have to be reconfigured. */
  readonly fingerprint: string;
  readonly config: Buffer | undefined;
}

/** Tags of one track alone after which a reconnected publisher no longer sends the other. */
const minTagsAlone = 200;

/** A second of audio tags alone means no video. */
const minAudioTagsAlone = 50;

export class RestreamFormat {
  readonly #tracks: Partial<Record<TrackKind, TrackFormat>> = {};
  /** For tracks of the previous connection: tags of the other track since the reconnect. */
  readonly #unconfirmed = new Map<TrackKind, number>();
  #audioTags = 0;

  /** Changes when destinations need a new connection. */
  get fingerprint(): string {
    return `${this.#tracks.video?.fingerprint ?? ''} ${this.#tracks.audio?.fingerprint ?? ''}`;
  }

  get hasVideo(): boolean {
    return this.#tracks.video !== undefined;
  }

  get hasAudio(): boolean {
    return this.#tracks.audio !== undefined;
  }

  get isAudioOnly(): boolean {
    return !this.hasVideo && this.#audioTags >= minAudioTagsAlone;
  }

  /** In sending order. */
  get configs(): (readonly [kind: TrackKind, body: Buffer])[] {
    return (['video', 'audio'] as const).flatMap(kind => {
      const config = this.#tracks[kind]?.config;
      return config === undefined ? [] : [[kind, config] as const];
    });
  }

  /** The next publisher may have fewer tracks. */
  publisherGone(): void {
    for (const kind of Object.keys(this.#tracks) as TrackKind[]) this.#unconfirmed.set(kind, 0);
  }

  update({ kind, role, body }: RestreamTag): void {
    if (this.#unconfirmed.size > 0) this.#confirm(kind);
    if (role === 'config') {
      this.#tracks[kind] = { fingerprint: body.toString('latin1'), config: body };
      return;
    }
    if (kind === 'video') return;
    this.#audioTags = Math.min(this.#audioTags + 1, minAudioTagsAlone);
    const fingerprint = String(body[0]);
    const known = this.#tracks.audio;
    // Audio with a configuration is identified by that.
    if (known === undefined || (known.config === undefined && known.fingerprint !== fingerprint)) {
      this.#tracks.audio = { fingerprint, config: undefined };
    }
  }

  #confirm(kind: TrackKind): void {
    this.#unconfirmed.delete(kind);
    for (const [other, alone] of this.#unconfirmed) {
      this.#unconfirmed.set(other, alone + 1);
      if (alone + 1 < minTagsAlone) continue;
      this.#unconfirmed.delete(other);
      delete this.#tracks[other];
    }
  }
}
