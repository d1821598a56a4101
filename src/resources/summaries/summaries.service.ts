import { notFoundError } from '../../http/routing/project-resource.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Transaction } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import type { SummarySourceView, SummaryView } from './summaries.schema.ts';
import type { SummariesStore } from './summaries.store.ts';
import type { Summary } from './summary.ts';

interface SummariesOptions {
  readonly database: Database;
  readonly store: SummariesStore;
  /** Excludes the trash. Keeps the video until the transaction ends. */
  readonly hasVideo: (projectId: string, videoId: string, transaction: Transaction) => Promise<boolean>;
  readonly clock: Clock;
}

export class SummariesService {
  readonly #options: SummariesOptions;

  constructor(options: SummariesOptions) {
    this.#options = options;
  }

  find(projectId: string, summaryId: string): Promise<Summary | undefined> {
    return this.#options.store.find(projectId, summaryId);
  }

  async list(...query: Parameters<SummariesStore['list']>): Promise<{ views: SummaryView[]; total: number }> {
    const { summaries, total } = await this.#options.store.list(...query);
    return { views: summaries.map(viewOf), total };
  }

  /** @throws AppError `resource-not-found` without the video, `summary-already-exists` */
  async create(projectId: string, videoId: string): Promise<SummaryView> {
    const { database, store, hasVideo, clock } = this.#options;
    const nowMs = clock.nowMs();
    const summary: Summary = {
      summaryId: newId('summary_'),
      projectId,
      videoId,
      sourceStatus: 'missing',
      abstract: undefined,
      takeaways: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await database.transaction(async transaction => {
      if (!(await hasVideo(projectId, videoId, transaction))) throw notFoundError('videoId');
      if (await store.add(summary, transaction)) return;
      const detail = 'Change the source of the summary, or delete the summary first.';
      throw new AppError('summary-already-exists', undefined, { details: { name: 'videoId', detail } });
    });
    return viewOf(summary);
  }

  /** @throws AppError `resource-not-found` when it is removed */
  async write(
    summary: Summary,
    text: { abstract?: string | undefined; takeaways?: readonly string[] | undefined },
  ): Promise<SummarySourceView> {
    if (text.abstract === undefined && text.takeaways === undefined) return sourceOf(summary);
    const written = await this.#options.store.write(summary, text, this.#options.clock.nowMs());
    if (written === undefined) throw notFoundError('summaryId');
    return sourceOf(written);
  }

  /** @throws AppError `resource-not-found` while there is no text */
  source(summary: Summary): SummarySourceView {
    if (summary.sourceStatus === 'missing') throw notFoundError('summaryId');
    return sourceOf(summary);
  }

  remove(summary: Summary): Promise<void> {
    return this.#options.store.remove(summary);
  }
}

function viewOf(summary: Summary): SummaryView {
  return {
    summaryId: summary.summaryId,
    createdAt: formatAtom(summary.createdAtMs),
    updatedAt: formatAtom(summary.updatedAtMs),
    videoId: summary.videoId,
    origin: 'api',
    sourceStatus: summary.sourceStatus,
  };
}

function sourceOf({ abstract, takeaways }: Pick<Summary, 'abstract' | 'takeaways'>): SummarySourceView {
  return {
    ...(abstract === undefined ? {} : { abstract }),
    ...(takeaways === undefined ? {} : { takeaways: [...takeaways] }),
  };
}
