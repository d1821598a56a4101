import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import type { Part } from '../packaging/segmenter.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';

/** The rendition of every broadcast: the publisher's audio and video, or the video alone when audio is demuxed. */
export const sourceRendition = 'source';
/** The rendition with the demuxed audio of a ladder. */
export const audioRendition = 'audio';

export interface BroadcastInfo {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Defaults to the server's setting. */
  readonly record?: boolean | undefined;
  /** Destinations at the start of the broadcast. */
  readonly restreams: readonly {
    readonly name: string;
    readonly serverUrl: string;
    readonly streamKey: string;
  }[];
}

/** A tag of the publisher on the broadcast's clock, which continues across reconnects. */
export interface BroadcastTag {
  readonly kind: TrackKind;
  /** `config` has the time of the previous tag. */
  readonly role: 'config' | 'keyframe' | 'frame';
  /** Milliseconds on the broadcast's clock, increasing on each track. */
  readonly atMs: number;
  /** FLV tag body, never written to. */
  readonly body: Buffer;
  readonly isSlate: boolean;
}

/** A listed part. */
export interface RenditionPart extends Part {
  readonly rendition: string;
  readonly isSlate: boolean;
}

/**
 * Receives the media and the state changes of a broadcast: a recording, a restream, a slate. Calls come in order on the path of the
 * media, so that each has to return at once. Exceptions are logged and affect no other subscriber.
 */
export interface BroadcastSubscriber {
  /** Appears in the log. */
  readonly name: string;
  tag?(tag: BroadcastTag): void;
  /** The tracks of a rendition from its next sample on. Track ids in `init` and in parts are 1 for video and 2 for audio. */
  tracks?(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    init: Buffer,
    isSlate: boolean,
  ): void;
  /**
   * A sample of the publisher's video or audio before it is in a part. Audio is in the rendition `source`, or demuxed in `audio`.
   *
   * @param atMs decoding time on the broadcast's clock
   */
  sample?(rendition: string, kind: TrackKind, sample: Sample, atMs: number, isSlate: boolean): void;
  part?(part: RenditionPart): void;
  stateChanged?(state: BroadcastState): void;
  /** The last call. The broadcast does not wait for it. */
  ended(reason: EndReason): void;
}

export type CreateSubscribers = (broadcast: BroadcastInfo) => readonly BroadcastSubscriber[];
