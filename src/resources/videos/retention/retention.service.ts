import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import { expiryNoticeMs } from '../videos/video.ts';
import type { RetentionChanges, RetentionView } from './retention.schema.ts';
import type { BatchPosition, RetentionStore } from './retention.store.ts';

const maxListedVideos = 10;

export class RetentionService {
  readonly #store: RetentionStore;
  readonly #clock: Clock;

  constructor(store: RetentionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async view(projectId: string): Promise<RetentionView> {
    const next = await this.#store.listNext(projectId, maxListedVideos);
    return {
      keepVideosDays: (await this.#store.keepVideosDays(projectId)) ?? null,
      next: next.map(({ videoId, title, expiresAtMs }) => ({
        videoId,
        title,
        expiresAt: formatAtom(expiresAtMs),
      })),
    };
  }

  async change(
    projectId: string,
    { keepVideosDays: days, applyToExisting = false }: RetentionChanges,
  ): Promise<RetentionView> {
    if (days !== undefined) {
      await this.#store.setKeepVideosDays(projectId, days);
      if (applyToExisting) await this.#applyToExisting(projectId, days);
    }
    return this.view(projectId);
  }

  /** New videos follow already, so this ends. */
  async #applyToExisting(projectId: string, days: number | null): Promise<void> {
    const minExpiresAtMs = this.#clock.nowMs() + expiryNoticeMs;
    let last: BatchPosition | undefined;
    do {
      last =
        days === null
          ? await this.#store.keepNext(projectId, last)
          : await this.#store.expireNext(projectId, last, { days, minExpiresAtMs });
      await yieldToEventLoop();
    } while (last !== undefined);
  }
}
