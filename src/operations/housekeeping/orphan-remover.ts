import { relative } from 'node:path';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { DatabaseUsePeriods } from './database-use-periods.ts';
import type { SweepReport } from './sweep-report.ts';
import type { SweepStorage } from './sweep-storage.ts';

export interface Orphan {
  readonly what: string;
  readonly path: string;
  /** Checked again right before the removal. */
  readonly isNeeded: () => Promise<boolean>;
  readonly isSetAside?: boolean;
}

interface OrphanRemoverOptions {
  readonly files: MediaFiles;
  readonly storage: SweepStorage;
  readonly usePeriods: DatabaseUsePeriods;
}

/** Keeps orphans whose row may still come, or from a time when this database was not in use. */
export class OrphanRemover {
  readonly #options: OrphanRemoverOptions;

  constructor(options: OrphanRemoverOptions) {
    this.#options = options;
  }

  /** Returns false when the orphan is left for another sweep. */
  async remove(orphan: Orphan, report: SweepReport, signal: AbortSignal | undefined): Promise<boolean> {
    const { path, what } = orphan;
    const shown = relative(this.#options.files.folder, path);
    try {
      const { storage, usePeriods } = this.#options;
      const found = await storage.find(path);
      if (found === undefined || (await orphan.isNeeded())) return true;
      if (!found.isOld) return false;
      const foreign = orphan.isSetAside === true ? undefined : usePeriods.foreignReason(found.writtenAtMs);
      if (foreign !== undefined) {
        report.kept(shown, foreign);
        return false;
      }
      const bytes = await storage.remove(path, signal);
      if (bytes !== undefined) report.removed(what, shown, bytes);
      return true;
    } catch (error) {
      report.failed(shown, error);
      return false;
    }
  }
}
