import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { AudioLabel } from '../../media/samples/declared-media.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import { canonicalLanguageTag } from '../../shared/text/language-tag.ts';
import { trackTitle } from '../../shared/text/track-title.ts';

/** A track that the publisher sends. */
export interface IngestTrack {
  readonly kind: TrackKind;
  /** 0 is the main one. */
  readonly trackId: number;
  /** Name of the codec, such as `H.264`. */
  readonly codec: string;
  readonly width?: number;
  readonly height?: number;
  readonly channels?: number;
  readonly name?: string;
  readonly language?: string;
  /** The rendition that viewers get it as; undefined while there is none. */
  readonly rendition?: string;
  /** A sentence. */
  readonly leftOutReason?: string;
  /** A sentence, while there is a recording that lacks the track. */
  readonly recordingLeftOutReason?: string;
}

type Details = Partial<Omit<IngestTrack, 'kind' | 'trackId' | 'name' | 'language'>>;

/** Publishers may send up to 255 of each kind. */
const maxTracks = 32;

/** The tracks of a publisher's connection. */
export class IngestTracks {
  readonly #tracks = new Map<string, IngestTrack>();

  clear(): void {
    this.#tracks.clear();
  }

  arrived(kind: TrackKind, trackId: number, codec: string): void {
    if (this.#tracks.size < maxTracks || this.#tracks.has(`${kind} ${trackId}`)) {
      this.#tracks.set(`${kind} ${trackId}`, { kind, trackId, codec });
    }
  }

  /** @param track as the publisher sends it; undefined when only its conversion is known */
  delivered(kind: TrackKind, trackId: number, rendition: string, track: TrackDescription | undefined): void {
    const { width, height, channels } = track ?? {};
    this.#change(kind, trackId, {
      rendition,
      ...(width === undefined || height === undefined ? {} : { width, height }),
      ...(channels === undefined ? {} : { channels }),
    });
  }

  leftOut(kind: TrackKind, trackId: number, leftOutReason: string): void {
    this.#change(kind, trackId, { leftOutReason });
  }

  /** Video first, each by id. */
  list(labelOf: (trackId: number) => AudioLabel): IngestTrack[] {
    return [...this.#tracks.values()]
      .toSorted(
        (one, other) =>
          Number(one.kind === 'audio') - Number(other.kind === 'audio') || one.trackId - other.trackId,
      )
      .map(track => (track.kind === 'audio' ? { ...track, ...labelFields(labelOf(track.trackId)) } : track));
  }

  #change(kind: TrackKind, trackId: number, details: Details): void {
    const known = this.#tracks.get(`${kind} ${trackId}`);
    if (known === undefined) return;
    const { rendition, leftOutReason, ...described } = known;
    this.#tracks.set(`${kind} ${trackId}`, { ...described, ...details });
  }
}

function labelFields(label: AudioLabel): Pick<IngestTrack, 'name' | 'language'> {
  const name = trackTitle(label.name);
  const language = canonicalLanguageTag(label.language ?? '');
  return { name, ...(language ? { language } : {}) };
}
