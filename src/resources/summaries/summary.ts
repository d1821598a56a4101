/** Without a language model, the text is missing until it is sent. */
export type SummaryStatus = 'missing' | 'completed';

export const maxTakeaways = 3;

/** The summary of a video. A video has at most one. */
export interface Summary {
  readonly summaryId: string;
  readonly projectId: string;
  readonly videoId: string;
  readonly sourceStatus: SummaryStatus;
  readonly abstract: string | undefined;
  /** In the order of the video. */
  readonly takeaways: readonly string[] | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** All given fields must match. */
export interface SummaryFilter {
  readonly videoId?: string | undefined;
  /** All summaries have the origin `api`. */
  readonly origin?: 'api' | 'auto' | undefined;
  readonly sourceStatus?: string | undefined;
}
