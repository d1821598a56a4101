import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { DatabaseUsePeriods } from './database-use-periods.ts';
import type { FileAge } from './file-age.ts';
import { removeTree } from './remove-tree.ts';
import type { SweepReport } from './sweep-report.ts';

export interface Orphan {
  readonly what: string;
  readonly path: string;
  /** Checked again right before the removal. */
  readonly isNeeded: () => Promise<boolean>;
  readonly isSetAside?: boolean;
}

interface OrphanRemoverOptions {
  readonly files: MediaFiles;
  readonly age: FileAge;
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
      if (await orphan.isNeeded()) return true;
      const isOld = this.#options.age.isOld(path);
      if (isOld !== true) return isOld === undefined;
      const foreign = orphan.isSetAside === true ? undefined : this.#whyForeign(path);
      if (foreign !== undefined) {
        report.kept(shown, foreign);
        return false;
      }
      const aside = this.#options.files.renameForRemoval(path);
      if (aside !== undefined) report.removed(what, shown, await removeTree(aside, signal));
      return true;
    } catch (error) {
      report.failed(shown, error);
      return false;
    }
  }

  #whyForeign(path: string): string | undefined {
    const fileAtMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return fileAtMs === undefined ? undefined : this.#options.usePeriods.foreignReason(fileAtMs);
  }
}
