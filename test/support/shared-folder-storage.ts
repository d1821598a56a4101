import { cp, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { OpenedFile } from '../../src/shared/files/opened-file.ts';
import { newUuid } from '../../src/shared/ids.ts';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { isNotFound } from '../../src/storage/folder-names.ts';
import type { ListedFile, MediaStorage, StoredFile } from '../../src/storage/media-storage.ts';

/** A folder in place of a bucket, for tests with several data folders. */
export class SharedFolderStorage implements MediaStorage {
  readonly kind = 's3';
  readonly #dataDir: string;
  readonly #bucket: string;
  readonly #stored: DataFolderStorage;
  readonly #local: DataFolderStorage;

  constructor(options: { readonly dataDir: string; readonly bucket: string }) {
    this.#dataDir = options.dataDir;
    this.#bucket = options.bucket;
    this.#stored = new DataFolderStorage(options.bucket);
    this.#local = new DataFolderStorage(options.dataDir);
  }

  async publish(from: string, to: string): Promise<void> {
    const beside = join(this.#bucket, newUuid());
    await cp(from, beside);
    await this.#stored.publish(beside, this.#keyOf(to));
    await rm(from);
  }

  async keep(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.publish(path, path);
  }

  async find(path: string): Promise<StoredFile | undefined> {
    return (await this.#local.find(path)) ?? (await this.#stored.find(this.#keyOf(path)));
  }

  async open(path: string): Promise<OpenedFile> {
    return await this.#local.open(path).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return this.#stored.open(this.#keyOf(path));
    });
  }

  async withLocal<Result>(path: string, work: (localPath: string) => Promise<Result>): Promise<Result> {
    if ((await this.#local.find(path)) !== undefined) return await work(path);
    const copy = join(this.#dataDir, newUuid());
    try {
      await cp(this.#keyOf(path), copy);
      return await work(copy);
    } finally {
      await rm(copy, { force: true });
    }
  }

  copy(from: string, to: string): Promise<void> {
    return this.#stored.copy(this.#keyOf(from), this.#keyOf(to));
  }

  async remove(path: string): Promise<void> {
    await Promise.all([this.#local.remove(path), this.#stored.remove(this.#keyOf(path))]);
  }

  async *list(folder: string): AsyncIterable<ListedFile> {
    const seen = new Set<string>();
    for await (const file of this.#local.list(folder)) {
      seen.add(file.path);
      yield file;
    }
    for await (const file of this.#stored.list(this.#keyOf(folder))) {
      const path = join(this.#dataDir, relative(this.#bucket, file.path));
      if (!seen.has(path)) yield { ...file, path };
    }
  }

  async *listFolders(folder: string): AsyncIterable<string> {
    const names = new Set<string>();
    for await (const name of this.#local.listFolders(folder)) names.add(name);
    for await (const name of this.#stored.listFolders(this.#keyOf(folder))) names.add(name);
    yield* names;
  }

  async downloadUrl(): Promise<undefined> {
    return undefined;
  }

  findFault(): Promise<string | undefined> {
    return this.#stored.findFault();
  }

  #keyOf(path: string): string {
    return join(this.#bucket, relative(this.#dataDir, path));
  }
}
