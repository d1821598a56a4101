import { notFoundError } from '../../../http/routing/project-resource.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { SummaryCreation, SummarySourceView, SummaryView } from './summaries.schema.ts';
import type { SummariesStore } from './summaries.store.ts';
import { newSummary, type Summary, summaryExistsError } from './summary.ts';

interface SummariesOptions {
  readonly database: Database;
  readonly store: SummariesStore;
  /** Excludes the trash. Keeps the video until the transaction ends. */
  readonly hasVideo: (projectId: string, videoId: string, transaction: Transaction) => Promise<boolean>;
  /** Generates the summary from the captions of the video. The summary waits already. */
  readonly generate: (videoId: string, transaction: Transaction) => Promise<void>;
  /** Ends the generation of the summary. */
  readonly withdraw: (videoId: string, transaction: Transaction) => Promise<void>;
  readonly canGenerate: boolean;
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
  async create(
    projectId: string,
    { videoId, origin = 'api', attributes }: SummaryCreation,
  ): Promise<SummaryView> {
    const { database, store, hasVideo, generate, canGenerate, clock } = this.#options;
    if (origin === 'auto' && !canGenerate) {
      const message = 'Generated summaries are not available on this server: they need a language model.';
      throw attributeError('origin', message);
    }
    const summary = newSummary({ projectId, videoId, origin, attributes, atMs: clock.nowMs() });
    await database.transaction(async transaction => {
      if (!(await hasVideo(projectId, videoId, transaction))) throw notFoundError('videoId');
      if (!(await store.add(summary, transaction))) throw summaryExistsError('videoId');
      if (origin === 'auto') await generate(videoId, transaction);
    });
    return viewOf((await store.find(projectId, summary.summaryId)) ?? summary);
  }

  /** @throws AppError `resource-not-found` when it is removed, `summary-already-exists` while it is generated */
  async write(
    summary: Summary,
    text: { abstract?: string | undefined; takeaways?: readonly string[] | undefined },
  ): Promise<SummarySourceView> {
    if (summary.sourceStatus === 'waiting') throw summaryExistsError('summaryId');
    if (text.abstract === undefined && text.takeaways === undefined) return sourceOf(summary);
    const written = await this.#options.store.write(summary, text, this.#options.clock.nowMs());
    if (written !== undefined) return sourceOf(written);
    const isWaiting = (await this.find(summary.projectId, summary.summaryId)) !== undefined;
    throw isWaiting ? summaryExistsError('summaryId') : notFoundError('summaryId');
  }

  /** @throws AppError `resource-not-found` while there is no text */
  source(summary: Summary): SummarySourceView {
    if (summary.sourceStatus !== 'completed') throw notFoundError('summaryId');
    return sourceOf(summary);
  }

  remove(summary: Summary): Promise<void> {
    const { database, store, withdraw } = this.#options;
    return database.transaction(async transaction => {
      await store.remove(summary, transaction);
      if (summary.origin === 'auto') await withdraw(summary.videoId, transaction);
    });
  }
}

function viewOf(summary: Summary): SummaryView {
  return {
    summaryId: summary.summaryId,
    createdAt: formatAtom(summary.createdAtMs),
    updatedAt: formatAtom(summary.updatedAtMs),
    videoId: summary.videoId,
    origin: summary.origin,
    sourceStatus: summary.sourceStatus,
    failure: summary.failure,
  };
}

function sourceOf({ abstract, takeaways }: Pick<Summary, 'abstract' | 'takeaways'>): SummarySourceView {
  return {
    abstract,
    takeaways: takeaways === undefined ? undefined : [...takeaways],
  };
}
