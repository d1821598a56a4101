/** Without a language model, the text is missing until it is sent. */
export type SummaryStatus = 'missing' | 'completed';

export const maxTakeaways = 3;

export interface Summary {
  readonly summaryId: string;
  readonly projectId: string;
  readonly videoId: string;
  readonly sourceStatus: SummaryStatus;
  readonly abstract: string | undefined;
  readonly takeaways: readonly string[] | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface SummaryFilter {
  readonly videoId?: string | undefined;
  /** All summaries have the origin `api`. */
  readonly origin?: 'api' | 'auto' | undefined;
  readonly sourceStatus?: string | undefined;
}
