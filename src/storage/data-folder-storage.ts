import { copyFile, link, lstat, mkdir, open, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, systemCodeOf } from '../shared/errors.ts';
import { fileEtag } from '../shared/files/file-etag.ts';
import type { OpenedFile } from '../shared/files/opened-file.ts';
import { newUuid } from '../shared/ids.ts';
import { entriesIn, foldersIn, isNotFound } from './folder-names.ts';
import type { ListedFile, MediaStorage, StoredFile } from './media-storage.ts';
import { removedPrefix } from './removed-prefix.ts';

const publishAttempts = 3;

/** The data folder of the one server that uses it. */
export class DataFolderStorage implements MediaStorage {
  readonly kind = 'data-folder';
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  async publish(from: string, to: string): Promise<void> {
    await syncFile(from);
    await moveInto(to, () => rename(from, to));
  }

  async keep(): Promise<void> {}

  async write(path: string, bytes: Buffer): Promise<void> {
    const beside = `${path}.${newUuid()}`;
    await moveInto(path, async () => {
      try {
        await writeFile(beside, bytes, { flush: true });
        await rename(beside, path);
      } catch (error) {
        await rm(beside, { force: true });
        throw error;
      }
    });
  }

  async find(path: string): Promise<StoredFile | undefined> {
    try {
      const file = await stat(path);
      return file.isFile() ? storedFileFrom(file) : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  open(path: string): Promise<OpenedFile> {
    return open(path, 'r');
  }

  async withLocal<Result>(path: string, work: (localPath: string) => Promise<Result>): Promise<Result> {
    return await work(path);
  }

  /** A hard link where the file system has them: published files never change. */
  async copy(from: string, to: string): Promise<void> {
    const beside = `${to}.${newUuid()}`;
    await moveInto(to, async () => {
      try {
        await link(from, beside);
      } catch (error) {
        if (systemCodeOf(error) === 'ENOENT') throw error;
        await copyWhole(from, beside);
      }
      await rename(beside, to);
    });
  }

  async remove(path: string): Promise<void> {
    try {
      return await unlink(path);
    } catch (error) {
      if (isNotFound(error)) return;
      if (!['EISDIR', 'EPERM'].includes(systemCodeOf(error) ?? '')) throw error;
    }
    const aside = join(dirname(path), `${removedPrefix}${newUuid()}`);
    try {
      await rename(path, aside);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    await rm(aside, { recursive: true, force: true, maxRetries: 3 });
  }

  async *list(folder: string): AsyncIterable<ListedFile> {
    for (const entry of await entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* this.list(path);
      const file = entry.isFile() ? await this.find(path) : undefined;
      if (file !== undefined) yield { path, ...file };
    }
  }

  async *listFolders(folder: string): AsyncIterable<string> {
    yield* await foldersIn(folder);
  }

  async downloadUrl(): Promise<undefined> {
    return undefined;
  }

  async findFault(): Promise<string | undefined> {
    try {
      await lstat(this.#root);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}

async function moveInto(to: string, move: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await mkdir(dirname(to), { recursive: true });
    try {
      return await move();
    } catch (error) {
      // The folder may have been removed meanwhile.
      if (attempt === publishAttempts || systemCodeOf(error) !== 'ENOENT') throw error;
    }
  }
}

async function copyWhole(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to);
    await syncFile(to);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

function storedFileFrom(file: { readonly size: number; readonly mtimeMs: number }): StoredFile {
  return { bytes: file.size, etag: fileEtag(file), modifiedAtMs: file.mtimeMs };
}

export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
