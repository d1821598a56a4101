import { join } from 'node:path';
import type { JobQueue } from '../../jobs/job.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { type MediaFiles, type MediaRoot, removedPrefix } from '../../storage/media-files.ts';
import { DatabaseUsePeriods } from './database-use-periods.ts';
import { FileAge } from './file-age.ts';
import { surveyImages } from './image-sweep.ts';
import {
  looksForeign,
  looksUnmounted,
  mediaRoots,
  type RootCounts,
  surveyRoot,
} from './media-root-survey.ts';
import { type Orphan, OrphanRemover } from './orphan-remover.ts';
import type { SweepStore } from './sweep.store.ts';
import { type SweepObserver, SweepReport } from './sweep-report.ts';
import { SweepThrottle } from './sweep-throttle.ts';
import { VideoSweep, type VideoSweepOptions } from './video-sweep.ts';

/** What a sweep is made with. */
export interface SweepOptions extends VideoSweepOptions {
  readonly jobs: JobQueue;
  /** Removes what broadcasts that are over have left beside their live streams; how many broadcasts those were. */
  readonly removeLeftoverBroadcasts: () => Promise<number>;
  /** Removes what killed backups have left; how many those were. */
  readonly removeAbortedBackups: () => Promise<number>;
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
 * Brings the data folder and the database together again, as crashes, lost disks and restored backups leave them: removes files
 * that no row names, and makes rows whose files are gone say so, or has the files made again. It goes over everything slowly, beside
 * all other work, and takes nothing that may just be in the making. Where most of what it sees is wrong, it leaves all as it is
 * and says so: a folder or a database is then more likely to be the wrong one.
 */
export class Sweep {
  readonly #options: SweepOptions;
  readonly #videos: VideoSweep;
  readonly #remover: OrphanRemover;
  readonly #usePeriods: DatabaseUsePeriods;

  /** Made when the process starts: what stands on the disk then, and has no row, gets none any more. */
  constructor(options: SweepOptions) {
    this.#options = options;
    this.#videos = new VideoSweep(options);
    this.#usePeriods = new DatabaseUsePeriods(options.store, options.clock.nowMs());
    this.#remover = new OrphanRemover({
      files: options.files,
      age: new FileAge(options.clock),
      uses: this.#usePeriods,
    });
  }

  /** Once over all. `signal`: leaves the rest for another time. Gives 0: it tells in the log itself what it did. */
  async run(signal?: AbortSignal): Promise<number> {
    const { store, files, clock, log, observer, removeLeftoverBroadcasts } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const report = new SweepReport(log, observer);
    const pace = new SweepThrottle(signal);
    const { counts, orphans } = await this.#surveyFolders(pace);
    const videos = await this.#videos.survey(pace);
    const images = await surveyImages(store, files, pace);
    if (pace.isAborted) return 0;
    const refused: string[] = [];
    const found = [orphans, videos.left, images.orphans];
    let isClean = found.every(({ length }) => length < maxFindings);
    if (looksForeign(counts)) {
      refused.push('most files belong to nothing in the database');
      isClean = false;
    } else {
      for (const orphan of found.flat()) {
        if (pace.isAborted) break;
        if (!(await this.#remover.remove(orphan, report, signal))) isClean = false;
        await pace.pause();
      }
      const broadcasts = await removeLeftoverBroadcasts();
      for (let count = 0; count < broadcasts; count += 1) report.removed('broadcast', 'live', 0);
      const backups = await this.#removeAbortedBackups();
      for (let count = 0; count < backups; count += 1) report.removed('backup', '.', 0);
    }
    const isEmpty = videos.lost > 0 && counts.get('vod')?.owned === 0;
    const isAway = looksUnmounted(videos) || isEmpty;
    if (isAway) {
      refused.push('most files are missing that the database names');
    } else {
      for (const videoId of videos.mendable) {
        if (pace.isAborted) break;
        await this.#videos.repair(videoId, report, this.#options.jobs);
        await pace.pause();
      }
    }
    if (images.isSuspicious)
      refused.push('most images are missing that the database names, or a folder of them');
    else if (!isAway) images.repair(report);
    this.#reportDatabaseFit(isClean && !pace.isAborted, refused, report);
    report.finish({
      videos: videos.checked,
      folders: [...counts.values()].reduce((sum, { owned, orphans: others }) => sum + owned + others, 0),
      ms: Math.round(clock.monotonicMs() - startedAtMs),
    });
    return 0;
  }

  /** Says that this database is in use, so that files that are newer than a backup of it are known as such; each minute. Gives 0. */
  recordUse(): number {
    this.#usePeriods.record(this.#options.clock.nowMs());
    return 0;
  }

  /** Removes what killed backups have left. That of another user cannot be removed, and does not stop the sweep. */
  async #removeAbortedBackups(): Promise<number> {
    try {
      return await this.#options.removeAbortedBackups();
    } catch (error) {
      this.#options.log.warn('backup-not-removed', {
        error,
        hint: 'remove backup.lock and the folders .backup-* of the data folder as the user who ran the backup, when none runs',
      });
      return 0;
    }
  }

  async #surveyFolders(
    pace: SweepThrottle,
  ): Promise<{ counts: Map<MediaRoot, RootCounts>; orphans: Orphan[] }> {
    const { store, files } = this.#options;
    const counts = new Map<MediaRoot, RootCounts>();
    const orphans: Orphan[] = [];
    for (const kind of mediaRoots) {
      const path = files.root(kind);
      const isOwned = (id: string) =>
        store.hasOwner(kind, id) || (kind === 'vod' && this.#options.isBusy(id));
      const count = await surveyRoot({ kind, path, isOwned }, pace, name => {
        if (orphans.length >= maxFindings) return;
        const isSetAside = name.startsWith(removedPrefix);
        orphans.push({
          what: isSetAside ? 'removal' : kindByRoot[kind],
          path: join(path, name),
          isNeeded: () => !isSetAside && isOwned(name),
          isSetAside,
        });
      });
      counts.set(kind, count);
    }
    return { counts, orphans };
  }

  #reportDatabaseFit(isClean: boolean, refused: readonly string[], report: SweepReport): void {
    const { log } = this.#options;
    for (const reason of refused) log.error('sweep-refused', { reason });
    if (report.keptCount > 0) {
      log.error('media-of-another-database', {
        kept: report.keptCount,
        hint: 'was the database restored from a backup? what no row names stays where it is',
      });
    }
    if (isClean) this.#usePeriods.merge(this.#options.clock.nowMs());
    this.recordUse();
  }
}

/** Counts the videos and images that miss files. Changes nothing. */
export async function countMissing(
  store: SweepStore,
  files: MediaFiles,
): Promise<{ readonly videos: number; readonly images: number }> {
  const pace = new SweepThrottle(undefined);
  const videos = await new VideoSweep({ store, files, isBusy: () => false }).survey(pace);
  const images = await surveyImages(store, files, pace);
  return { videos: videos.lost, images: images.lost };
}
