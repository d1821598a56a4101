/** Identifies a rendition of a video: `hls` and `mp4` with a quality such as `720p`, `audio` with `audio`. */
export interface RenditionName {
  readonly type: 'hls' | 'mp4' | 'audio';
  readonly quality: string;
}

export interface FinishedRendition extends RenditionName {
  /** Path of the index or the MP4, relative to the video's folder. */
  readonly file: string;
  /** JSON that playback needs without opening a file. */
  readonly facts: unknown;
}

/** A rendition in the database. */
export interface StoredRendition extends RenditionName {
  readonly status: 'waiting' | 'encoding' | 'encoded' | 'failed';
  readonly progressPercent: number;
  readonly file: string | undefined;
  readonly facts: unknown;
}

/** The encoding settings of a video. */
export interface EncodingRequest {
  readonly projectId: string;
  /** Sandbox videos are cut and watermarked. */
  readonly environment: 'sandbox' | 'production';
  /** Origin of the source. Undefined while there is none. */
  readonly origin: 'upload' | 'url' | 'clone' | 'recording' | undefined;
  /** The source was joined from several files, so its format may change in the middle, which players cannot handle. */
  readonly isJoined: boolean;
  readonly clip: { readonly startMs: number; readonly endMs: number | undefined } | undefined;
  /** Placement as in the API. The image is the file `watermark` in the video's folder. */
  readonly watermark: Readonly<Record<string, string>> | undefined;
  readonly mp4Support: boolean;
}

/** Encoding state of a video. */
export interface EncodingState {
  /** Metadata of the source, empty until it is probed. */
  readonly facts: unknown;
  readonly targetDurationSeconds: number | undefined;
  /** A finished rendition can be played. */
  readonly isPlayable: boolean;
  readonly hasStoryboard: boolean;
  /** The reason why the video failed, as a sentence. */
  readonly failure: string | undefined;
  /** Increases whenever the content for viewers changes. */
  readonly revision: number;
  /** In order: HLS ascending, MP4, audio. */
  readonly renditions: readonly StoredRendition[];
}

/** Stores the encoding state of videos. Each call is one transaction, and does nothing if the video was deleted. */
export interface EncodingRepository {
  /** Undefined if the video was deleted. */
  request(videoId: string): EncodingRequest | undefined;
  state(videoId: string): EncodingState | undefined;
  /** Replaces all renditions by these, waiting. */
  setPlan(videoId: string, facts: unknown, renditions: readonly RenditionName[]): void;
  /** Adds a waiting rendition, unless it exists. */
  addRendition(videoId: string, rendition: RenditionName): void;
  removeRendition(videoId: string, rendition: RenditionName): void;
  markStarted(videoId: string, renditions: readonly RenditionName[]): void;
  updateProgress(videoId: string, renditions: readonly RenditionName[], percent: number): void;
  /** Marks renditions as encoded and emits an event for each. Ignores renditions that were removed. */
  markFinished(
    videoId: string,
    renditions: readonly FinishedRendition[],
    targetDurationSeconds?: number,
  ): void;
  /** Stores corrected metadata of the source. */
  updateMetadata(videoId: string, facts: unknown): void;
  /** Marks renditions as failed and emits an event with the reason. */
  markFailed(videoId: string, renditions: readonly RenditionName[], reason: string): void;
  /** Marks unfinished renditions as failed, and the video too unless it is playable. Emits an event. */
  markRefused(videoId: string, reason: string): void;
  /** Emits an event that the source failed. */
  sourceFailed(videoId: string, reason: string): void;
  /** Increases the revision. */
  markChanged(videoId: string): void;
  markStoryboardReady(videoId: string): void;
  transaction(work: () => void): void;
}
