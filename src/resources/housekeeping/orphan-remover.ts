import { lstatSync } from 'node:fs';
import { relative } from 'node:path';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { FileAge } from './file-age.ts';
import { removeTree } from './remove-tree.ts';
import type { SweepReport } from './sweep-report.ts';

/** What a server has not said in its database when it is killed; and how far clocks of disks go wrong. */
const unsaidMs = 10 * 60_000;

/** Something on the disk that no row names, as far as was seen. */
export interface Orphan {
  readonly what: string;
  readonly path: string;
  /** Looked at again right before it is taken away. */
  readonly isNeeded: () => boolean;
  /** It was set aside before, so that only the rest of it is to go. */
  readonly isSetAside?: boolean;
}

/** From when to when servers have used a database. */
export interface DatabaseSpan {
  /** Undefined for one that is new. */
  readonly madeAtMs: number | undefined;
  /** Before this process; undefined when none ever said. */
  readonly usedAtMs: number | undefined;
}

/**
 * Removes what nobody needs: not while its row may still come, and not what was made while this database was not in use. That is of
 * another one: of the one that was lost before this was made, or the one that was there until this was restored from a backup.
 */
export class OrphanRemover {
  readonly #files: MediaFiles;
  readonly #age: FileAge;
  readonly #database: DatabaseSpan;

  constructor(options: { files: MediaFiles; age: FileAge; database: DatabaseSpan }) {
    this.#files = options.files;
    this.#age = options.age;
    this.#database = options.database;
  }

  async remove(orphan: Orphan, report: SweepReport, signal: AbortSignal | undefined): Promise<void> {
    const { path, what } = orphan;
    const shown = relative(this.#files.folder, path);
    try {
      // No await from here until it is set aside.
      if (orphan.isNeeded() || this.#age.isOld(path) !== true) return;
      const foreign = orphan.isSetAside === true ? undefined : this.#whyForeign(path);
      if (foreign !== undefined) return report.kept(shown, foreign);
      const aside = this.#files.setAside(path);
      if (aside !== undefined) report.removed(what, shown, await removeTree(aside, signal));
    } catch (error) {
      report.failed(shown, error);
    }
  }

  #whyForeign(path: string): string | undefined {
    const { madeAtMs, usedAtMs } = this.#database;
    const fileAtMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    // What this process made, it also said in this database.
    if (fileAtMs >= this.#age.startedAtMs) return undefined;
    if (fileAtMs < (madeAtMs ?? this.#age.startedAtMs) - unsaidMs) return 'it is older than the database';
    if (usedAtMs !== undefined && fileAtMs > usedAtMs + unsaidMs) return 'it is newer than the database';
    return undefined;
  }
}
