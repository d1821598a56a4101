/** How far the text of a summary is. Without a language model to write it, it is missing until somebody sends it. */
export type SummaryStatus = 'missing' | 'completed';

/** Points of a summary at most. */
export const maxTakeaways = 3;

/** What a video is about, in words; one for a video. */
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

/** Which summaries a list shows: those that meet all that is given. */
export interface SummaryFilter {
  readonly videoId?: string | undefined;
  /** All are of `api`: nothing here writes them. */
  readonly origin?: 'api' | 'auto' | undefined;
  readonly sourceStatus?: string | undefined;
}
