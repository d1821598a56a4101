import { join } from 'node:path';
import type { JobQueue } from '../../jobs/job.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { MediaFiles, MediaRoot } from '../../storage/media-files.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';
import { DatabaseUsePeriods } from './database-use-periods.ts';
import { FileAge } from './file-age.ts';
import { surveyImages } from './image-sweep.ts';
import type { LocalLeftovers } from './local-leftovers.ts';
import {
  looksForeign,
  looksUnmounted,
  mediaRoots,
  type RootCounts,
  surveyRoot,
} from './media-root-survey.ts';
import { type Orphan, OrphanRemover } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import type { SweepRepairs } from './sweep-repairs.ts';
import { type SweepObserver, SweepReport } from './sweep-report.ts';
import { createSweepStorage, type SweepStorage } from './sweep-storage.ts';
import { SweepThrottle } from './sweep-throttle.ts';
import { VideoSweep, type VideoSweepOptions } from './video-sweep.ts';

export interface SweepOptions extends VideoSweepOptions {
  readonly repairs: SweepRepairs;
  readonly jobs: JobQueue;
  /** Undefined where servers share the storage: a {@link LocalSweep} of each removes them. */
  readonly leftovers: LocalLeftovers | undefined;
  readonly observer: SweepObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

const kindByRoot: Readonly<Record<MediaRoot, string>> = {
  vod: 'video',
  uploads: 'upload',
  live: 'live-stream',
  players: 'player',
  watermarks: 'watermark',
};
const maxFindings = 10_000;

/**
 * Reconciles the data folder or object storage with the database after crashes, lost disks and restored backups: removes files
 * that no row names, and corrects rows whose files are missing or has the files rebuilt. Skips files that may
 * still be in the making. Changes nothing when most of what it sees is wrong, because a folder or a database
 * is probably the wrong one.
 */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #storage: SweepStorage;
  readonly #videos: VideoSweep;
  readonly #remover: OrphanRemover;
  readonly #usePeriods: DatabaseUsePeriods;

  private constructor(options: SweepOptions, usePeriods: DatabaseUsePeriods) {
    this.#options = options;
    const storage = createSweepStorage(options.files, new FileAge(options.clock));
    this.#storage = storage;
    this.#videos = new VideoSweep(options, storage);
    this.#usePeriods = usePeriods;
    this.#remover = new OrphanRemover({ files: options.files, storage, usePeriods });
  }

  /** Call this when the process starts: a file that exists by then without a row never gets one. */
  static async create(options: SweepOptions): Promise<Sweep> {
    return new Sweep(options, await DatabaseUsePeriods.begin(options.store, options.clock.nowMs()));
  }

  get usePeriods(): DatabaseUsePeriods {
    return this.#usePeriods;
  }

  /** Returns 0, because it logs its own results. */
  async run(signal?: AbortSignal): Promise<number> {
    const { store, files, clock, log, observer } = this.#options;
    const storage = this.#storage;
    const startedAtMs = clock.monotonicMs();
    const report = new SweepReport(log, observer);
    const throttle = new SweepThrottle(signal);
    const { counts, orphans } = await this.#surveyFolders(throttle);
    const videos = await this.#videos.survey(throttle);
    const images = await surveyImages(store, { files, storage }, throttle);
    if (throttle.isAborted) return 0;
    const refused: string[] = [];
    const found = [orphans, videos.orphans, images.orphans];
    let isClean = found.every(({ length }) => length < maxFindings);
    if (looksForeign(counts)) {
      refused.push('the database does not refer to most files');
      isClean = false;
    } else if (!(await this.#remove(found.flat(), report, throttle))) isClean = false;
    const isUnmounted = looksUnmounted(videos) || (videos.missingCount > 0 && counts.get('vod')?.owned === 0);
    if (isUnmounted) refused.push('most files that the database refers to are missing');
    else await this.#repairVideos(videos.repairable, report, throttle);
    if (images.isSuspicious)
      refused.push('most images that the database refers to, or a folder of them, are missing');
    else if (!isUnmounted) await images.repair(this.#options.repairs, report);
    await this.#reportDatabaseFit(isClean && !throttle.isAborted, refused, report);
    report.finish({
      videos: videos.checked,
      folders: [...counts.values()].reduce((sum, { owned, orphans: others }) => sum + owned + others, 0),
      ms: Math.round(clock.monotonicMs() - startedAtMs),
    });
    return 0;
  }

  /** Recognizes files that are newer than a backup. Call this every minute. Returns 0. */
  async recordUse(): Promise<number> {
    await this.#usePeriods.record(this.#options.clock.nowMs());
    return 0;
  }

  /** Returns true when no orphan is left. */
  async #remove(orphans: readonly Orphan[], report: SweepReport, throttle: SweepThrottle): Promise<boolean> {
    let isClean = true;
    for (const orphan of orphans) {
      if (throttle.isAborted) break;
      if (!(await this.#remover.remove(orphan, report, throttle.signal))) isClean = false;
      await throttle.pause();
    }
    await this.#options.leftovers?.remove(report);
    return isClean;
  }

  async #repairVideos(
    videoIds: readonly string[],
    report: SweepReport,
    throttle: SweepThrottle,
  ): Promise<void> {
    const { repairs, jobs } = this.#options;
    for (const videoId of videoIds) {
      if (throttle.isAborted) return;
      await this.#videos.repair(videoId, { repairs, jobs, report });
      await throttle.pause();
    }
  }

  async #surveyFolders(
    throttle: SweepThrottle,
  ): Promise<{ counts: Map<MediaRoot, RootCounts>; orphans: Orphan[] }> {
    const { store, files } = this.#options;
    const counts = new Map<MediaRoot, RootCounts>();
    const orphans: Orphan[] = [];
    for (const kind of mediaRoots) {
      const path = files.root(kind);
      const isOwned = async (id: string) =>
        (await store.hasOwner(kind, id)) || (kind === 'vod' && (await this.#options.isBusy(id)));
      const names = this.#storage.names(kind);
      const count = await surveyRoot({ kind, names, isOwned }, throttle, name => {
        if (orphans.length >= maxFindings) return;
        const isSetAside = name.startsWith(removedPrefix);
        orphans.push({
          what: isSetAside ? 'removal' : kindByRoot[kind],
          path: join(path, name),
          isNeeded: async () => !isSetAside && (await isOwned(name)),
          isSetAside,
        });
      });
      counts.set(kind, count);
    }
    return { counts, orphans };
  }

  async #reportDatabaseFit(isClean: boolean, refused: readonly string[], report: SweepReport): Promise<void> {
    const { log } = this.#options;
    for (const reason of refused) log.error('sweep-refused', { reason });
    if (report.keptCount > 0) {
      log.error('media-of-another-database', {
        kept: report.keptCount,
        hint: 'files that the database does not refer to were kept, because it may have been restored from a backup',
      });
    }
    if (isClean) await this.#usePeriods.merge(this.#options.clock.nowMs());
    await this.recordUse();
  }
}

export async function countMissing(
  store: SweepStore,
  files: MediaFiles,
): Promise<{ readonly videos: number; readonly images: number }> {
  const throttle = new SweepThrottle(undefined, { restMs: 0 });
  const storage = createSweepStorage(files, new FileAge(systemClock));
  const videos = await new VideoSweep({ store, files, isBusy: async () => false }, storage).survey(throttle);
  const images = await surveyImages(store, { files, storage }, throttle);
  return { videos: videos.missingCount, images: images.missingCount };
}
