import { describeVideoTag, type RestreamTag } from '../../media/flv/flv-tag.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';

/** Another one needs a new connection. Compared by identity. */
export interface MediaFormat {
  /** Sequence headers, or frames of codecs that have none. */
  readonly first: Readonly<Partial<Record<TrackKind, Buffer>>>;
  /** Sequence headers in sending order. */
  readonly configs: readonly (readonly [kind: TrackKind, body: Buffer])[];
  /** Of a video codec that needs Enhanced RTMP. */
  readonly fourCc: string | undefined;
  readonly codecName: string;
}

interface TrackFormat {
  readonly first: Buffer;
  readonly isConfig: boolean;
}

/** Tags of one track alone after which a reconnected publisher no longer sends the other. */
const minTagsAlone = 200;

/** A second of audio tags alone means no video. */
const minAudioTagsAlone = 50;

/** Follows the tracks and decoder configurations of tags. */
export class RestreamFormat {
  readonly #tracks: Partial<Record<TrackKind, TrackFormat>> = {};
  /** For tracks of the previous connection: tags of the other track since the reconnect. */
  readonly #unconfirmed = new Map<TrackKind, number>();
  #audioTags = 0;
  #current: MediaFormat = mediaFormatOf({});

  get current(): MediaFormat {
    return this.#current;
  }

  get isAudioOnly(): boolean {
    return this.#tracks.video === undefined && this.#audioTags >= minAudioTagsAlone;
  }

  /** The next publisher may have fewer tracks. */
  publisherGone(): void {
    for (const kind of Object.keys(this.#tracks) as TrackKind[]) this.#unconfirmed.set(kind, 0);
  }

  update({ kind, role, body }: RestreamTag): void {
    if (this.#unconfirmed.size > 0) this.#confirm(kind);
    const known = kind === 'video' ? this.#tracks.video : this.#tracks.audio;
    if (role === 'config') {
      if (!known?.isConfig || !known.first.equals(body))
        this.#setTrack(kind, { first: body, isConfig: true });
      return;
    }
    if (kind === 'video') return;
    this.#audioTags = Math.min(this.#audioTags + 1, minAudioTagsAlone);
    // Audio with a configuration is identified by that, other audio by its first byte.
    if (known === undefined || (!known.isConfig && known.first[0] !== body[0]))
      this.#setTrack(kind, { first: body, isConfig: false });
  }

  #confirm(kind: TrackKind): void {
    this.#unconfirmed.delete(kind);
    for (const [other, alone] of this.#unconfirmed) {
      this.#unconfirmed.set(other, alone + 1);
      if (alone + 1 < minTagsAlone) continue;
      this.#unconfirmed.delete(other);
      this.#setTrack(other, undefined);
    }
  }

  #setTrack(kind: TrackKind, track: TrackFormat | undefined): void {
    if (track === undefined) delete this.#tracks[kind];
    else this.#tracks[kind] = track;
    this.#current = mediaFormatOf(this.#tracks);
  }
}

function mediaFormatOf({ video, audio }: Partial<Record<TrackKind, TrackFormat>>): MediaFormat {
  const codec = video && describeVideoTag(video.first)?.codec;
  return {
    first: {
      ...(video === undefined ? {} : { video: video.first }),
      ...(audio === undefined ? {} : { audio: audio.first }),
    },
    configs: [
      ...(video?.isConfig ? [['video', video.first] as const] : []),
      ...(audio?.isConfig ? [['audio', audio.first] as const] : []),
    ],
    fourCc: codec?.isEnhanced ? video?.first.toString('latin1', 1, 5) : undefined,
    codecName: codec?.name ?? '',
  };
}
