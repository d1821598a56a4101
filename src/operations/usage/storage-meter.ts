import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { SweepThrottle } from '../housekeeping/sweep-throttle.ts';
import { measureFiles } from './measure-files.ts';
import type { DueVideo, Measurement, StorageMeterStore } from './storage-meter.store.ts';

interface StorageMeterOptions {
  readonly store: StorageMeterStore;
  readonly files: MediaFiles;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Files that a change makes obsolete are removed soon after it. */
const recheckMs = 20_000;
const growingIntervalMs = 30_000;
/** Finds files that were added or removed in other ways. */
const regularIntervalMs = 24 * 3_600_000;
const retryMs = 60_000;
const batchSize = 32;

/** Measures files soon after a change, again after cleanup, every half minute while they grow, and daily. */
export class StorageMeter {
  readonly #options: StorageMeterOptions;

  constructor(options: StorageMeterOptions) {
    this.#options = options;
  }

  /** Returns 0, because measurements are not worth a log line. */
  async run(signal?: AbortSignal): Promise<number> {
    const { store, clock } = this.#options;
    const pace = new SweepThrottle(signal);
    for (;;) {
      const due = await store.listDue(clock.nowMs(), batchSize);
      const measurements: Measurement[] = [];
      for (const video of due) {
        if (pace.isAborted) break;
        const measurement = await this.#measure(video);
        if (measurement !== undefined) measurements.push(measurement);
        await pace.pause();
      }
      await store.saveMeasurements(measurements);
      if (pace.isAborted || due.length < batchSize) return 0;
    }
  }

  /** Returns undefined for a video that is tried again later. */
  async #measure(video: DueVideo): Promise<Measurement | undefined> {
    const { store, files, clock, log } = this.#options;
    const { videoId, hasChanged, isRecording, isGrowing } = video;
    try {
      const bytes = await measureFiles(files.storage, files.video(videoId), isRecording);
      const waitMs = hasChanged ? recheckMs : isGrowing ? growingIntervalMs : regularIntervalMs;
      return { video, bytes, dueAtMs: clock.nowMs() + waitMs };
    } catch (error) {
      log.warn('storage-not-measured', { videoId, error: messageOf(error) });
      await store.postpone(video, clock.nowMs() + retryMs);
      return undefined;
    }
  }
}
