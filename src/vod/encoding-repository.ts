import type { AdditionalCodec } from '../shared/additional-codecs.ts';
import type { Connection, Transaction } from '../store/connection.ts';

export interface RenditionName {
  readonly type: 'hls' | 'mp4' | 'audio';
  readonly quality: string;
}

export interface FinishedRendition extends RenditionName {
  readonly file: string;
  readonly renditionMetadata: unknown;
}

export interface StoredRendition extends RenditionName {
  readonly status: 'waiting' | 'encoding' | 'encoded' | 'failed';
  readonly progressPercent: number;
  readonly file: string | undefined;
  readonly renditionMetadata: unknown;
}

/** An HLS rendition beside the H.264 one of the same quality. */
export interface CodecRenditionName {
  readonly codec: AdditionalCodec;
  readonly quality: string;
}

export interface FinishedCodecRendition extends CodecRenditionName {
  readonly file: string;
  readonly renditionMetadata: unknown;
}

export interface StoredCodecRendition
  extends CodecRenditionName,
    Omit<StoredRendition, keyof RenditionName> {}

export interface EncodingRequest {
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  readonly origin: 'upload' | 'url' | 'clone' | 'recording' | undefined;
  /** Joined from several files: the format may change in the middle, which players cannot handle. */
  readonly isJoined: boolean;
  /** Copied from what viewers of another video or of a broadcast get. */
  readonly isClip: boolean;
  readonly clip: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  /** Placement as in the API. The image is the file `watermark` in the video's folder. */
  readonly watermark: Readonly<Record<string, string>> | undefined;
  readonly mp4Support: boolean;
  readonly language: string | undefined;
}

export interface EncodingState {
  readonly sourceMetadata: unknown;
  readonly targetDurationSeconds: number | undefined;
  readonly isPlayable: boolean;
  readonly hasStoryboard: boolean;
  readonly failure: string | undefined;
  /** The captions of the source were stored, and may be deleted. */
  readonly hasSourceCaptions: boolean;
  /** Increases whenever the content for viewers changes. */
  readonly revision: number;
  readonly renditions: readonly StoredRendition[];
  /** HEVC before AV1, lowest first. */
  readonly codecRenditions: readonly StoredCodecRendition[];
  /** Tracks in the order of menus; empty when the source was prepared by an older version. */
  readonly audioTracks: readonly AudioTrack[];
}

/** An audio track as the owner sees it. */
export interface AudioTrack {
  /** Number of the track, from 1; that of the renditions, as in `AudioRenditionName`. */
  readonly track: number;
  /** RFC 5646. */
  readonly language?: string | undefined;
  readonly name?: string | undefined;
  readonly codec?: string | undefined;
  /** Channels of the source. */
  readonly channels?: number | undefined;
  readonly isDefault: boolean;
  /** Audio that describes the picture. */
  readonly isDescription?: boolean | undefined;
}

/**
 * Stores the state of encodings. Each call is one transaction, or belongs to that of its caller, and does nothing
 * if the video was deleted.
 */
export interface EncodingRepository {
  request(videoId: string, connection?: Connection): Promise<EncodingRequest | undefined>;
  state(videoId: string, connection?: Connection): Promise<EncodingState | undefined>;
  setPlan(
    videoId: string,
    sourceMetadata: unknown,
    renditions: readonly RenditionName[],
    connection?: Connection,
  ): Promise<void>;
  setAudioTracks(videoId: string, tracks: readonly AudioTrack[], transaction: Transaction): Promise<void>;
  /** Fails further audio renditions, without which the video works. */
  failAudio(videoId: string, qualities: readonly string[], transaction: Transaction): Promise<void>;
  addRendition(videoId: string, rendition: RenditionName, connection?: Connection): Promise<void>;
  removeRendition(videoId: string, rendition: RenditionName, connection?: Connection): Promise<void>;
  markWaiting(videoId: string, renditions: readonly RenditionName[], transaction: Transaction): Promise<void>;
  markStarted(videoId: string, renditions: readonly RenditionName[], connection?: Connection): Promise<void>;
  updateProgress(videoId: string, renditions: readonly RenditionName[], percent: number): Promise<void>;
  /** Ignores renditions that were removed. Emits an event for each other one. */
  markFinished(
    videoId: string,
    renditions: readonly FinishedRendition[],
    targetDurationSeconds?: number,
    connection?: Connection,
  ): Promise<void>;
  updateMetadata(videoId: string, sourceMetadata: unknown, connection?: Connection): Promise<void>;
  markFailed(
    videoId: string,
    renditions: readonly RenditionName[],
    reason: string,
    connection?: Connection,
  ): Promise<void>;
  /** Marks unfinished renditions as failed, and the video too unless it is playable. Emits an event. */
  markRefused(videoId: string, reason: string, connection?: Connection): Promise<void>;
  sourceFailed(videoId: string, reason: string, transaction: Transaction): Promise<void>;
  /** Forgets everything that was made of a source. */
  reset(videoId: string, transaction: Transaction): Promise<void>;
  markChanged(videoId: string): Promise<void>;
  markCaptionsStored(videoId: string, transaction: Transaction): Promise<void>;
  markStoryboardReady(videoId: string): Promise<void>;
  /** Locks the renditions: other transactions that plan them wait until this one ends. */
  lockPlan(videoId: string, transaction: Transaction): Promise<void>;
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
}

/**
 * Stores renditions as {@link EncodingRepository} does. The video is playable without them, so none of them emits
 * an event.
 */
export interface CodecRenditionRepository {
  markWaiting(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    transaction: Transaction,
  ): Promise<void>;
  /** Adds unknown ones, which wait. */
  plan(videoId: string, renditions: readonly CodecRenditionName[], transaction: Transaction): Promise<void>;
  markStarted(
    videoId: string,
    renditions: readonly CodecRenditionName[],
    transaction: Transaction,
  ): Promise<void>;
  updateProgress(videoId: string, renditions: readonly CodecRenditionName[], percent: number): Promise<void>;
  markFinished(
    videoId: string,
    renditions: readonly FinishedCodecRendition[],
    transaction: Transaction,
  ): Promise<void>;
  failUnfinished(videoId: string, codec: AdditionalCodec, transaction: Transaction): Promise<void>;
}
