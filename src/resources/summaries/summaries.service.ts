import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { SummarySourceView, SummaryView } from './summaries.schema.ts';
import type { SummariesStore } from './summaries.store.ts';
import type { Summary } from './summary.ts';

interface SummariesOptions {
  readonly store: SummariesStore;
  /** Excludes the trash. */
  readonly hasVideo: (projectId: string, videoId: string) => boolean;
  readonly clock: Clock;
}

export class SummariesService {
  readonly #options: SummariesOptions;

  constructor(options: SummariesOptions) {
    this.#options = options;
  }

  find(projectId: string, summaryId: string): Summary | undefined {
    return this.#options.store.find(projectId, summaryId);
  }

  async list(...query: Parameters<SummariesStore['list']>): Promise<{ views: SummaryView[]; total: number }> {
    const { summaries, total } = await this.#options.store.list(...query);
    return { views: summaries.map(viewOf), total };
  }

  /** @throws AppError `resource-not-found` without the video, `summary-already-exists` */
  create(projectId: string, videoId: string): SummaryView {
    const { store, hasVideo, clock } = this.#options;
    if (!hasVideo(projectId, videoId)) {
      throw new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
    }
    if (store.findOfVideo(projectId, videoId) !== undefined) {
      const detail = 'Change the source of the summary, or delete the summary first.';
      throw new AppError('summary-already-exists', undefined, { details: { name: 'videoId', detail } });
    }
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
    store.add(summary);
    return viewOf(summary);
  }

  write(
    summary: Summary,
    text: { abstract?: string | undefined; takeaways?: readonly string[] | undefined },
  ): SummarySourceView {
    if (text.abstract === undefined && text.takeaways === undefined) return sourceOf(summary);
    this.#options.store.write(summary, text, this.#options.clock.nowMs());
    return sourceOf({
      abstract: text.abstract ?? summary.abstract,
      takeaways: text.takeaways ?? summary.takeaways,
    });
  }

  /** @throws AppError `resource-not-found` while there is no text */
  source(summary: Summary): SummarySourceView {
    if (summary.sourceStatus === 'missing') {
      throw new AppError('resource-not-found', undefined, { details: { name: 'summaryId' } });
    }
    return sourceOf(summary);
  }

  remove(summary: Summary): void {
    this.#options.store.remove(summary);
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
