import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';

/** Text that is sent is `missing` before. Generated text waits, and fails when it cannot be made. */
export const summaryStatuses = ['missing', 'waiting', 'failed', 'completed', 'unprocessable'] as const;
export type SummaryStatus = (typeof summaryStatuses)[number];

export const maxTakeaways = 3;

export type SummaryAttribute = 'abstract' | 'takeaways';

export interface Summary {
  readonly summaryId: string;
  readonly projectId: string;
  readonly videoId: string;
  readonly origin: 'api' | 'auto';
  readonly sourceStatus: SummaryStatus;
  /** Undefined: all. */
  readonly attributes: readonly SummaryAttribute[] | undefined;
  readonly abstract: string | undefined;
  readonly takeaways: readonly string[] | undefined;
  /** The reason why it could not be generated. */
  readonly failure?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface SummaryFilter {
  readonly videoId?: string | undefined;
  readonly origin?: 'api' | 'auto' | undefined;
  readonly sourceStatus?: SummaryStatus | undefined;
}

export function newSummary({
  atMs,
  origin,
  ...given
}: Pick<Summary, 'projectId' | 'videoId' | 'origin' | 'attributes'> & { readonly atMs: number }): Summary {
  return {
    ...given,
    summaryId: newId('summary_'),
    origin,
    sourceStatus: origin === 'auto' ? 'waiting' : 'missing',
    abstract: undefined,
    takeaways: undefined,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  };
}

/** @param name of the attribute at fault */
export function summaryExistsError(name: string): AppError {
  const detail = 'Change the source of the summary, or delete the summary first.';
  return new AppError('summary-already-exists', undefined, { details: { name, detail } });
}
