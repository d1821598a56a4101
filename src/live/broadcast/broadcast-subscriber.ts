import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { CodecConfig, MediaSample, TrackKind } from '../../media/samples/media-sample.ts';
import type { ListedTrackLabel } from '../window/listed-audio.ts';
import type { ClaimablePart } from '../window/live-window.ts';
import type { SharedFiles } from '../window/part-store.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';

/** The publisher's audio and video, or the video alone when audio is demuxed. */
export const sourceRendition = 'source';
export const audioRendition = 'audio';
/** The publisher's audio in its own codec, beside AAC. */
export const originalAudioRendition = 'audio-original';

export interface RestreamConfig {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
  /** Undefined is true. */
  readonly isEnabled?: boolean | undefined;
  /** A rendition of the ladder, such as `720p`; undefined is the source. */
  readonly rendition?: string | undefined;
}

export interface ContinuedRecording {
  readonly videoId: string;
  readonly startedAtMs: number;
  /** Number of its first file here: beyond those of other servers. */
  readonly firstSpan: number;
}

export interface BroadcastInfo {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  /** Unix time. */
  readonly startedAtMs: number;
  readonly record?: boolean | undefined;
  /** A recording that another server began, and continues here. */
  readonly recording?: ContinuedRecording | undefined;
  readonly restreams: readonly RestreamConfig[];
  /** Viewers may watch over WebRTC. */
  readonly ultraLowLatency?: boolean | undefined;
}

export interface BroadcastMedia {
  readonly media: MediaSample | CodecConfig;
  /** Decode time on the broadcast's clock. Increases on each track; a configuration has that of the sample before it. */
  readonly atMs: number;
  readonly isSlate: boolean;
}

export interface RenditionPart extends ClaimablePart {
  readonly rendition: string;
  readonly isSlate: boolean;
}

/** Receives a broadcast's media and state changes in order, on the media path: calls must return at once. */
export interface BroadcastSubscriber {
  readonly name: string;
  media?(media: BroadcastMedia): void;
  /** The additional audio that the publisher sends, before its tracks. */
  additionalAudio?(renditions: readonly string[]): void;
  /** Audio that the recording lacks, by rendition, with the reason as a sentence. */
  unrecordedAudio?(): ReadonlyMap<string, string>;
  /**
   * Describes the samples that follow. Track ids in `init` and in parts are 1 for video, 2 for the main audio and more
   * for additional audio.
   */
  tracks?(
    rendition: string,
    tracks: Partial<Record<TrackKind, TrackDescription>>,
    init: Buffer,
    isSlate: boolean,
    audioLabel?: ListedTrackLabel,
  ): void;
  /**
   * Comes before its part. Demuxed audio has the rendition `audio`.
   * @param atMs decode time on the broadcast's clock
   */
  sample?(rendition: string, kind: TrackKind, sample: Sample, atMs: number, isSlate: boolean): void;
  part?(part: RenditionPart): void;
  /** The renditions that are encoded from now on, without the source; none without an encoder. Slates are left out. */
  encodedRenditions?(renditions: readonly string[]): void;
  encodedTrack?(rendition: string, track: TrackDescription): void;
  /** Video before it is segmented. @param atMs decode time on the broadcast's clock */
  encodedSample?(rendition: string, sample: Sample, atMs: number): void;
  stateChanged?(state: BroadcastState): void;
  ended(reason: EndReason): void;
}

/** @param sharedFiles of the live window, which reads claimed parts from them */
export type CreateSubscribers = (
  broadcast: BroadcastInfo,
  sharedFiles: SharedFiles | undefined,
) => readonly BroadcastSubscriber[];
