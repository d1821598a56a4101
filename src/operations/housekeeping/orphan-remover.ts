import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { DatabaseUsePeriods } from './database-use-periods.ts';
import type { FileAge } from './file-age.ts';
import { removeTree } from './remove-tree.ts';
import type { SweepReport } from './sweep-report.ts';

/** Something on the disk that no row names, as far as was seen. */
export interface Orphan {
  readonly what: string;
  readonly path: string;
  /** Looked at again right before it is taken away. */
  readonly isNeeded: () => boolean;
  /** It was set aside before, so that only the rest of it is to go. */
  readonly isSetAside?: boolean;
}

/**
 * Removes what nobody needs: not while its row may still come, and not what was made while this database was not in use.
 */
export class OrphanRemover {
  readonly #files: MediaFiles;
  readonly #age: FileAge;
  readonly #uses: DatabaseUsePeriods;

  constructor(options: { files: MediaFiles; age: FileAge; uses: DatabaseUsePeriods }) {
    this.#files = options.files;
    this.#age = options.age;
    this.#uses = options.uses;
  }

  /** Whether it is not there any more, or needed after all; else it is left for another time. */
  async remove(orphan: Orphan, report: SweepReport, signal: AbortSignal | undefined): Promise<boolean> {
    const { path, what } = orphan;
    const shown = relative(this.#files.folder, path);
    try {
      // No await from here until it is set aside.
      if (orphan.isNeeded()) return true;
      const isOld = this.#age.isOld(path);
      if (isOld !== true) return isOld === undefined;
      const foreign = orphan.isSetAside === true ? undefined : this.#whyForeign(path);
      if (foreign !== undefined) {
        report.kept(shown, foreign);
        return false;
      }
      const aside = this.#files.renameForRemoval(path);
      if (aside !== undefined) report.removed(what, shown, await removeTree(aside, signal));
      return true;
    } catch (error) {
      report.failed(shown, error);
      return false;
    }
  }

  #whyForeign(path: string): string | undefined {
    const fileAtMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return fileAtMs === undefined ? undefined : this.#uses.foreignReason(fileAtMs);
  }
}
