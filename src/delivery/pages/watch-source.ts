export interface ListedVideo {
  readonly videoId: string;
  readonly title: string;
  readonly publishedAtMs: number;
  readonly durationSeconds: number | undefined;
}

/** Texts and other videos on watch pages. Lists have only videos that everybody may watch. */
export interface WatchSource {
  details(
    videoId: string,
  ): Promise<{ readonly description: string; readonly publishedAtMs: number } | undefined>;
  /** Other videos of the project: those published before this one, then the newest. */
  after(
    video: { readonly projectId: string; readonly videoId?: string; readonly publishedAtMs?: number },
    limit: number,
  ): Promise<readonly ListedVideo[]>;
  /** The recording of the newest broadcast, once it is playable. */
  recordingOf(liveStreamId: string): Promise<ListedVideo | undefined>;
}
