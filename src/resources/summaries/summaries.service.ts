import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { SummarySourceView, SummaryView } from './summaries.schema.ts';
import type { SummariesStore } from './summaries.store.ts';
import type { Summary } from './summary.ts';

/** What summaries are kept with. */
export interface SummariesOptions {
  readonly store: SummariesStore;
  /** Whether a project has a video that is not discarded. */
  readonly hasVideo: (projectId: string, videoId: string) => boolean;
  readonly clock: Clock;
}

/** What a caller can do with summaries of videos. */
export class SummariesService {
  readonly #options: SummariesOptions;

  constructor(options: SummariesOptions) {
    this.#options = options;
  }

  /** A summary of a project. */
  find(projectId: string, summaryId: string): Summary | undefined {
    return this.#options.store.find(projectId, summaryId);
  }

  /** One page of a project's summaries, and how many there are on all pages. */
  async list(...query: Parameters<SummariesStore['list']>): Promise<{ views: SummaryView[]; total: number }> {
    const { summaries, total } = await this.#options.store.list(...query);
    return { views: summaries.map(viewOf), total };
  }

  /**
   * Makes a summary whose text is still to be sent.
   *
   * @throws AppError `resource-not-found` when there is no such video, `summary-already-exists` when it has one
   */
  create(projectId: string, videoId: string): SummaryView {
    const { store, hasVideo, clock } = this.#options;
    if (!hasVideo(projectId, videoId)) {
      throw new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
    }
    if (store.findOfVideo(projectId, videoId) !== undefined) {
      const detail = 'Change its source, or delete it first.';
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

  /** Writes what is given of the text, and leaves the rest; given nothing, nothing happens. */
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

  /** The text of a summary. @throws AppError `resource-not-found` while there is none */
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
