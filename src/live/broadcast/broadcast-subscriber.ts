import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import type { Part } from '../packaging/segmenter.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';

/** Name of the rendition that every broadcast has: picture and sound as they come in, or, beside others, the picture alone. */
export const sourceRendition = 'source';
/** Name of the rendition that has the sound where the picture has several. */
export const audioRendition = 'audio';

/** The broadcast that is followed. */
export interface BroadcastInfo {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** True where its owner wants a recording; the server's setting unless given. */
  readonly record?: boolean | undefined;
  /** Destinations as they stood when it began. */
  readonly restreams: readonly {
    readonly name: string;
    readonly serverUrl: string;
    readonly streamKey: string;
  }[];
}

/** A tag of the publisher, put on the broadcast's clock, which runs on across reconnects. */
export interface BroadcastTag {
  readonly kind: TrackKind;
  /** `config` carries decoder configuration and has the time of the tag before it. */
  readonly role: 'config' | 'keyframe' | 'frame';
  /** Milliseconds on the broadcast's clock, rising on each track. */
  readonly atMs: number;
  /** FLV tag body as it came in; never written to. */
  readonly body: Buffer;
  /** It is a slate's, in place of a publisher that is gone. */
  readonly isSlate: boolean;
}

/** A part that was listed. */
export interface RenditionPart extends Part {
  readonly rendition: string;
  readonly isSlate: boolean;
}

/**
 * What goes along with a broadcast from its beginning to its end, beside its viewers: recordings, restreams, its health. Everything is
 * told in order, on the path of the media: a follower takes it and returns at once, and what it throws is logged and costs nobody else.
 */
export interface BroadcastSubscriber {
  /** For log lines. */
  readonly name: string;
  /** Media of the publisher, as it came in. */
  tag?(tag: BroadcastTag): void;
  /** What a rendition consists of from its next sample on; `init` is the init section of its parts, which number video 1 and audio 2. */
  tracks?(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    init: Buffer,
    isSlate: boolean,
  ): void;
  /**
   * A sample of the source's picture or of the sound, before it becomes part of a part: the sound is in the rendition `source`, or apart in
   * `audio`. `atMs`: decoding time on the broadcast's clock.
   */
  sample?(rendition: string, kind: TrackKind, sample: Sample, atMs: number, isSlate: boolean): void;
  part?(part: RenditionPart): void;
  stateChanged?(state: BroadcastState): void;
  /** It is over, and nothing more comes. The broadcast does not wait. */
  ended(reason: EndReason): void;
}

/** Makes what goes along with a broadcast that begins. */
export type CreateSubscribers = (broadcast: BroadcastInfo) => readonly BroadcastSubscriber[];
