import { link, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../shared/logger.ts';
import type { SharedFiles } from './part-store.ts';

interface LiveFile {
  readonly path: string;
  isOpen: boolean;
  uses: number;
}

/** The files of a broadcast. Removes a file that is complete and no longer used. */
export class LiveFiles implements SharedFiles {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #files = new Map<number, LiveFile>();
  #count = 0;
  #hasFolder = false;
  #isClosed = false;
  #hasReportedLink = false;

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** The caller writes the file, and completes it. */
  async create(): Promise<{ readonly number: number; readonly path: string }> {
    if (!this.#hasFolder) await mkdir(this.#folder, { recursive: true });
    this.#hasFolder = true;
    this.#count += 1;
    const number = this.#count;
    const path = this.pathOf(number);
    this.#files.set(number, { path, isOpen: true, uses: 0 });
    return { number, path };
  }

  /** The link stays when the file is renamed or removed. */
  async link(target: string): Promise<number | undefined> {
    if (this.#isClosed) return undefined;
    let number: number | undefined;
    try {
      const created = await this.create();
      number = created.number;
      await link(target, created.path);
      return number;
    } catch (error) {
      if (number !== undefined) this.complete(number);
      this.#hasFolder = false;
      if (!this.#hasReportedLink) this.#log.warn('recording-not-shared', { path: target, error });
      this.#hasReportedLink = true;
      return undefined;
    }
  }

  /** The folder is about to be removed. */
  close(): void {
    this.#isClosed = true;
  }

  /** The folder may have been removed. */
  writeFailed(): void {
    this.#hasFolder = false;
  }

  pathOf(number: number): string {
    return this.#files.get(number)?.path ?? join(this.#folder, `${number}.m4s`);
  }

  retain(number: number): void {
    const file = this.#files.get(number);
    if (file !== undefined) file.uses += 1;
  }

  release(number: number): void {
    const file = this.#files.get(number);
    if (file === undefined) return;
    file.uses -= 1;
    this.#removeIfUnused(number, file);
  }

  complete(number: number): void {
    const file = this.#files.get(number);
    if (file === undefined) return;
    file.isOpen = false;
    this.#removeIfUnused(number, file);
  }

  #removeIfUnused(number: number, { path, isOpen, uses }: LiveFile): void {
    if (isOpen || uses > 0) return;
    this.#files.delete(number);
    rm(path, { force: true }).catch((error: unknown) =>
      this.#log.warn('live-file-not-removed', { path, error }),
    );
  }
}
