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

  async of({ projectId, environment }: Pick<Caller, 'projectId' | 'environment'>): Promise<UsageView> {
    const stored = await this.#options.store.stored(projectId);
    const totalBytes = Object.values(stored).reduce((sum, bytes) => sum + bytes, 0);
    const days = await this.#daysOf(projectId);
    const { maxStorageBytes, maxUploads } = this.#options.quotas.limits;
    return {
      projectId,
      environment,
      videos: await this.#options.store.videos(projectId),
      liveStreams: await this.#options.store.liveStreams(projectId),
      storage: {
        totalBytes,
        ...stored,
        ...((await this.#options.store.hasUnmeasured(projectId)) ? { measuring: true } : {}),
        ...(maxStorageBytes === undefined ? {} : { maxBytes: maxStorageBytes }),
      },
      uploads: {
        inProgress: await this.#options.quotas.uploadsInProgress(projectId),
        ...(maxUploads === 0 ? {} : { max: maxUploads }),
      },
      bandwidth: {
        todayBytes: days.at(-1)!.bytes,
        last30DaysBytes: days.reduce((sum, { bytes }) => sum + bytes, 0),
        days,
      },
    };
  }

  async #daysOf(projectId: string): Promise<UsageView['bandwidth']['days']> {
    const firstDay = dayOf(this.#options.clock.nowMs()) - daysShown + 1;
    const traffic = await this.#options.traffic.since(projectId, firstDay);
    return Array.from({ length: daysShown }, (_, index) => {
      const { liveBytes, vodBytes } = traffic.get(firstDay + index) ?? { liveBytes: 0, vodBytes: 0 };
      const date = formatDay(firstDay + index);
      return { date, bytes: liveBytes + vodBytes, liveBytes, videoBytes: vodBytes };
    });
  }
}
