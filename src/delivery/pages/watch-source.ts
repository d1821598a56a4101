export interface WatchedRecording {
  readonly videoId: string;
  readonly title: string;
}

/** Texts and recordings on watch pages. */
export interface WatchSource {
  details(
    videoId: string,
  ): Promise<{ readonly description: string; readonly publishedAtMs: number } | undefined>;
  /** The recording of the newest broadcast, once it is playable, if everybody may watch it. */
  recordingOf(liveStreamId: string): Promise<WatchedRecording | undefined>;
}
