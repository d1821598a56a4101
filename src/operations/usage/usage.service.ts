import type { Caller } from '../../http/routing/caller.ts';
import type { Clock } from '../../shared/clock.ts';
import { dayOf, formatDay } from '../../shared/day.ts';
import type { Quotas } from './quotas.ts';
import type { Traffic } from './traffic.ts';
import type { UsageView } from './usage.schema.ts';
import type { UsageStore } from './usage.store.ts';

const daysShown = 30;

interface UsageServiceOptions {
  readonly store: UsageStore;
  readonly traffic: Traffic;
  readonly quotas: Quotas;
  readonly clock: Clock;
}

export class UsageService {
  readonly #options: UsageServiceOptions;

  constructor(options: UsageServiceOptions) {
    this.#options = options;
  }

  of({ projectId, environment }: Pick<Caller, 'projectId' | 'environment'>): UsageView {
    const stored = this.#options.store.stored(projectId);
    const totalBytes = Object.values(stored).reduce((sum, bytes) => sum + bytes, 0);
    const days = this.#daysOf(projectId);
    const { maxStorageBytes, maxUploads } = this.#options.quotas.limits;
    return {
      projectId,
      environment,
      videos: this.#options.store.videos(projectId),
      liveStreams: this.#options.store.liveStreams(projectId),
      storage: {
        totalBytes,
        ...stored,
        ...(this.#options.store.hasUnmeasured(projectId) ? { measuring: true } : {}),
        ...(maxStorageBytes === undefined ? {} : { maxBytes: maxStorageBytes }),
      },
      uploads: {
        inProgress: this.#options.quotas.uploadsInProgress(projectId),
        ...(maxUploads === 0 ? {} : { max: maxUploads }),
      },
      bandwidth: {
        todayBytes: days.at(-1)!.bytes,
        last30DaysBytes: days.reduce((sum, { bytes }) => sum + bytes, 0),
        days,
      },
    };
  }

  #daysOf(projectId: string): UsageView['bandwidth']['days'] {
    const firstDay = dayOf(this.#options.clock.nowMs()) - daysShown + 1;
    const traffic = this.#options.traffic.since(projectId, firstDay);
    return Array.from({ length: daysShown }, (_, index) => {
      const { liveBytes, vodBytes } = traffic.get(firstDay + index) ?? { liveBytes: 0, vodBytes: 0 };
      const date = formatDay(firstDay + index);
      return { date, bytes: liveBytes + vodBytes, liveBytes, videoBytes: vodBytes };
    });
  }
}
