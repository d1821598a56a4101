/** Names of a video's renditions: `hls` and `mp4` with a quality such as `720p`; `audio` with `audio`. */
export interface RenditionName {
  readonly type: 'hls' | 'mp4' | 'audio';
  readonly quality: string;
}

/** A rendition that is there. */
export interface FinishedRendition extends RenditionName {
  /** The index, or the mp4, relative to the video's folder. */
  readonly file: string;
  /** What playback must know without opening a file; JSON. */
  readonly facts: unknown;
}

/** A rendition as it is written down. */
export interface StoredRendition extends RenditionName {
  readonly status: 'waiting' | 'encoding' | 'encoded' | 'failed';
  readonly progressPercent: number;
  readonly file: string | undefined;
  readonly facts: unknown;
}

/** What its owner wants to be made of a video. */
export interface EncodingRequest {
  readonly projectId: string;
  /** What is made in the sandbox is cut, and marked as such. */
  readonly environment: 'sandbox' | 'production';
  /** Where the source comes from; undefined while there is none. */
  readonly origin: 'upload' | 'url' | 'clone' | 'recording' | undefined;
  /** It was put together from several files: picture and sound change in the middle, which no player follows. */
  readonly isJoined: boolean;
  readonly clip: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  /** Placement as in the contract; the image is the file `watermark` of the video's folder. */
  readonly watermark: Readonly<Record<string, string>> | undefined;
  readonly mp4Support: boolean;
}

/** What is known of a video's encoding. */
export interface EncodingState {
  /** Facts of the source for the status; empty until it was probed. */
  readonly facts: unknown;
  readonly targetDurationSeconds: number | undefined;
  /** Something complete can be played. */
  readonly isPlayable: boolean;
  readonly hasStoryboard: boolean;
  /** Why nothing came of it, as a sentence. */
  readonly failure: string | undefined;
  /** Grows whenever what viewers get changes. */
  readonly revision: number;
  /** In the order of the status: HLS ascending, mp4, audio. */
  readonly renditions: readonly StoredRendition[];
}

/** Where the vod room writes down how far it has come. Every call is one transaction; for a video that is gone it does nothing. */
export interface EncodingRepository {
  /** undefined when the video is gone or discarded for good. */
  request(videoId: string): EncodingRequest | undefined;
  state(videoId: string): EncodingState | undefined;
  /** A source was looked into: begins anew with these renditions, all waiting. */
  setPlan(videoId: string, facts: unknown, renditions: readonly RenditionName[]): void;
  /** Adds a rendition that waits, unless it is there. */
  addRendition(videoId: string, rendition: RenditionName): void;
  /** Removes a rendition. */
  removeRendition(videoId: string, rendition: RenditionName): void;
  markStarted(videoId: string, renditions: readonly RenditionName[]): void;
  updateProgress(videoId: string, renditions: readonly RenditionName[], percent: number): void;
  /** They can be delivered; tells by an event of each that could not before. What is not wanted any more is passed over. */
  markFinished(
    videoId: string,
    renditions: readonly FinishedRendition[],
    targetDurationSeconds?: number,
  ): void;
  /** The facts of the source are known better. */
  updateMetadata(videoId: string, facts: unknown): void;
  /** These renditions failed for good, which an event says with the reason. */
  markFailed(videoId: string, renditions: readonly RenditionName[], reason: string): void;
  /**
   * Nothing more can come of the source: what is not encoded has failed, and so has the video unless it can be played. An event says so.
   */
  markRefused(videoId: string, reason: string): void;
  /** Tells by an event that the source of a video failed. */
  sourceFailed(videoId: string, reason: string): void;
  /** What viewers get has changed without a rendition being finished. */
  markChanged(videoId: string): void;
  markStoryboardReady(videoId: string): void;
  /** All of `work` or nothing of it. */
  transaction(work: () => void): void;
}
