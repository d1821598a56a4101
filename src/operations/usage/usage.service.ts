import type { Caller } from '../../http/routing/caller.ts';
import type { Clock } from '../../shared/clock.ts';
import { dayOf, formatDay } from '../../shared/day.ts';
import type { Quotas } from './quotas.ts';
import type { Traffic } from './traffic.ts';
import type { UsageView } from './usage.schema.ts';
import type { UsageStore } from './usage.store.ts';

const daysShown = 30;

export class UsageService {
  readonly #store: UsageStore;
  readonly #traffic: Traffic;
  readonly #quotas: Quotas;
  readonly #clock: Clock;

  constructor(options: {
    readonly store: UsageStore;
    readonly traffic: Traffic;
    readonly quotas: Quotas;
    readonly clock: Clock;
  }) {
    this.#store = options.store;
    this.#traffic = options.traffic;
    this.#quotas = options.quotas;
    this.#clock = options.clock;
  }

  of({ projectId, environment }: Pick<Caller, 'projectId' | 'environment'>): UsageView {
    const stored = this.#store.stored(projectId);
    const totalBytes = Object.values(stored).reduce((sum, bytes) => sum + bytes, 0);
    const days = this.#daysOf(projectId);
    const { maxStorageBytes, maxUploads } = this.#quotas.limits;
    return {
      projectId,
      environment,
      videos: this.#store.videos(projectId),
      liveStreams: this.#store.liveStreams(projectId),
      storage: {
        totalBytes,
        ...stored,
        ...(this.#store.hasUnmeasured(projectId) ? { measuring: true } : {}),
        ...(maxStorageBytes === undefined ? {} : { maxBytes: maxStorageBytes }),
      },
      uploads: {
        inProgress: this.#quotas.uploadsInProgress(projectId),
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
    const firstDay = dayOf(this.#clock.nowMs()) - daysShown + 1;
    const traffic = this.#traffic.since(projectId, firstDay);
    return Array.from({ length: daysShown }, (_, index) => {
      const { liveBytes, vodBytes } = traffic.get(firstDay + index) ?? { liveBytes: 0, vodBytes: 0 };
      const date = formatDay(firstDay + index);
      return { date, bytes: liveBytes + vodBytes, liveBytes, videoBytes: vodBytes };
    });
  }
}
