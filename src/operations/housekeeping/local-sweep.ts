import { join } from 'node:path';
import type { MediaRoot } from '../../storage/media-files.ts';
import { removedPrefix } from '../../storage/removed-prefix.ts';
import type { Connection } from '../../store/connection.ts';
import type { DatabaseUsePeriods } from './database-use-periods.ts';
import { FileAge } from './file-age.ts';
import { looksForeign, mediaRoots, type RootCounts, surveyRoot } from './media-root-survey.ts';
import { type Orphan, OrphanRemover } from './orphan-remover.ts';
import type { SweepOptions } from './sweep.ts';
import { SweepReport } from './sweep-report.ts';
import { DataFolderSweepStorage } from './sweep-storage.ts';
import { SweepThrottle } from './sweep-throttle.ts';
import { VideoSweep } from './video-sweep.ts';

type LocalSweepOptions = Pick<SweepOptions, 'store' | 'files' | 'isBusy' | 'observer' | 'clock' | 'log'> & {
  readonly leftovers: NonNullable<SweepOptions['leftovers']>;
  readonly usePeriods: DatabaseUsePeriods;
};

const maxFindings = 10_000;

/**
 * Removes what dead jobs and crashes left in the data folder where finished files are in object storage. Each server does
 * this for itself. Keeps what rows name: it may not have been copied yet.
 */
export class LocalSweep {
  readonly #options: LocalSweepOptions;
  readonly #storage: DataFolderSweepStorage;
  readonly #videos: VideoSweep;
  readonly #remover: OrphanRemover;

  /** Create it when the process starts. */
  constructor(options: LocalSweepOptions) {
    const { files, clock, usePeriods } = options;
    const storage = new DataFolderSweepStorage(files, new FileAge(clock));
    this.#options = options;
    this.#storage = storage;
    this.#videos = new VideoSweep(options, storage);
    this.#remover = new OrphanRemover({ files, storage, usePeriods });
  }

  /** Returns 0, because it logs its own results. */
  async run(signal?: AbortSignal): Promise<number> {
    const { leftovers, observer, clock, log } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const report = new SweepReport(log, observer);
    const throttle = new SweepThrottle(signal);
    const counts = new Map<MediaRoot, RootCounts>();
    const orphans: Orphan[] = [];
    for (const kind of mediaRoots) {
      // Skips files of broadcasts, which have a sweep of their own.
      if (kind !== 'live') counts.set(kind, await this.#survey(kind, orphans, throttle));
    }
    if (looksForeign(counts)) {
      log.error('sweep-refused', { reason: 'the database does not refer to most local files' });
    } else {
      for (const orphan of orphans) {
        if (throttle.isAborted) return 0;
        await this.#remover.remove(orphan, report, throttle.signal);
        await throttle.pause();
      }
    }
    await leftovers.remove(report);
    report.finish({ isLocal: true, ms: Math.round(clock.monotonicMs() - startedAtMs) });
    return 0;
  }

  #survey(kind: MediaRoot, orphans: Orphan[], throttle: SweepThrottle): Promise<RootCounts> {
    const { store, files, isBusy } = this.#options;
    const add = (orphan: Orphan) => orphans.length < maxFindings && orphans.push(orphan);
    const isOwned = async (id: string, connection?: Connection) =>
      (await store.hasOwner(kind, id)) || (kind === 'vod' && (await isBusy(id, connection)));
    const names = this.#storage.names(kind);
    const survey = async (id: string) => {
      if (!(await isOwned(id))) return false;
      if (kind === 'vod') for (const orphan of await this.#videos.orphansOf(id)) add(orphan);
      return true;
    };
    return surveyRoot({ kind, names, isOwned: survey }, throttle, name => {
      const isSetAside = name.startsWith(removedPrefix);
      const isNeeded = async () => !isSetAside && (await isOwned(name));
      add({ what: 'local-files', path: join(files.root(kind), name), isNeeded, isSetAside });
    });
  }
}
