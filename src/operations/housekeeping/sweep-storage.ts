import { existsSync, lstatSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, dirname, relative, sep } from 'node:path';
import { systemCodeOf } from '../../shared/errors.ts';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles, MediaRoot } from '../../storage/media-files.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import type { FileAge } from './file-age.ts';
import { mediaRoots } from './media-root-survey.ts';
import { removeTree } from './remove-tree.ts';
import { isMediaFolder } from './video-findings.ts';

/** S3 servers tell times in whole seconds. */
const clockPrecisionMs = 1_000;

interface FoundEntry {
  /** True for files so old that nothing can get a row any more. */
  readonly isOld: boolean;
  readonly writtenAtMs: number;
}

/** Lists and removes what the sweep compares with the database. */
export interface SweepStorage {
  /** False when the folder of all entries of a kind is missing. */
  hasRoot(kind: MediaRoot): Promise<boolean>;
  /** Entries in the folder of a kind. */
  names(kind: MediaRoot): AsyncIterable<string>;
  namesIn(folder: string): Promise<readonly string[]>;
  /** Relative paths of the folders and files of a video. */
  filesOf(videoId: string): Promise<Set<string>>;
  has(path: string): Promise<boolean>;
  /** A file or folder. Undefined when it is missing. */
  find(path: string): Promise<FoundEntry | undefined>;
  /** Leaves what is not old. Returns the freed bytes; undefined when nothing was removed. */
  remove(path: string, signal: AbortSignal | undefined): Promise<number | undefined>;
}

export function createSweepStorage(files: MediaFiles, age: FileAge): SweepStorage {
  return files.storage.kind === 'data-folder'
    ? new DataFolderSweepStorage(files, age)
    : new BucketSweepStorage(files, age);
}

/** The data folder of a server. */
export class DataFolderSweepStorage implements SweepStorage {
  readonly #files: MediaFiles;
  readonly #age: FileAge;

  constructor(files: MediaFiles, age: FileAge) {
    this.#files = files;
    this.#age = age;
  }

  async hasRoot(kind: MediaRoot): Promise<boolean> {
    return existsSync(this.#files.root(kind));
  }

  async *names(kind: MediaRoot): AsyncIterable<string> {
    try {
      for await (const { name } of await opendir(this.#files.root(kind), { bufferSize: 128 })) yield name;
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  }

  namesIn(folder: string): Promise<readonly string[]> {
    return namesIn(folder);
  }

  async filesOf(videoId: string): Promise<Set<string>> {
    const present = new Set<string>();
    for (const name of await namesIn(this.#files.video(videoId))) {
      present.add(name);
      if (!isMediaFolder(name)) continue;
      for (const inner of await namesIn(this.#files.video(videoId, name))) present.add(`${name}/${inner}`);
    }
    return present;
  }

  async has(path: string): Promise<boolean> {
    return existsSync(path);
  }

  async find(path: string): Promise<FoundEntry | undefined> {
    const isOld = this.#age.isOld(path);
    const writtenAtMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return isOld === undefined || writtenAtMs === undefined ? undefined : { isOld, writtenAtMs };
  }

  /** Removes a file when it is old. Nothing can happen between the check of its age and its renaming. */
  async remove(path: string, signal: AbortSignal | undefined): Promise<number | undefined> {
    if (this.#age.isOld(path) !== true) return undefined;
    const aside = this.#files.renameForRemoval(path);
    return aside === undefined ? undefined : await removeTree(aside, signal);
  }
}

/** Object storage, which other servers share. */
class BucketSweepStorage implements SweepStorage {
  readonly #files: MediaFiles;
  readonly #storage: MediaStorage;
  readonly #age: FileAge;

  constructor(files: MediaFiles, age: FileAge) {
    this.#files = files;
    this.#storage = files.storage;
    this.#age = age;
  }

  /** Folders go with their last file, so that this can only tell an empty bucket. */
  async hasRoot(): Promise<boolean> {
    for (const kind of mediaRoots) {
      for await (const _ of this.#storage.list(this.#files.root(kind))) return true;
    }
    return false;
  }

  async *names(kind: MediaRoot): AsyncIterable<string> {
    const root = this.#files.root(kind);
    if (kind !== 'watermarks') return yield* this.#storage.listFolders(root);
    for await (const { path } of this.#storage.list(root)) if (dirname(path) === root) yield basename(path);
  }

  async namesIn(folder: string): Promise<readonly string[]> {
    const names: string[] = [];
    for await (const { path } of this.#storage.list(folder)) names.push(relative(folder, path));
    return names;
  }

  async filesOf(videoId: string): Promise<Set<string>> {
    const present = new Set<string>();
    for (const name of await this.namesIn(this.#files.video(videoId))) {
      const [folder, ...inner] = name.split(sep);
      present.add(folder!);
      if (inner.length > 0) present.add([folder, ...inner].join('/'));
    }
    return present;
  }

  async has(path: string): Promise<boolean> {
    return (await this.#storage.find(path)) !== undefined;
  }

  /** A folder is as old as its newest file. */
  async find(path: string): Promise<FoundEntry | undefined> {
    let writtenAtMs = Number.NEGATIVE_INFINITY;
    for await (const { modifiedAtMs } of this.#filesAt(path))
      writtenAtMs = Math.max(writtenAtMs, modifiedAtMs);
    if (writtenAtMs === Number.NEGATIVE_INFINITY) return undefined;
    return { isOld: this.#age.isDayOld(writtenAtMs), writtenAtMs: writtenAtMs + clockPrecisionMs };
  }

  /** File by file: another server may be storing one there right now. */
  async remove(path: string, signal: AbortSignal | undefined): Promise<number | undefined> {
    let freedBytes: number | undefined;
    for await (const file of this.#filesAt(path)) {
      if (signal?.aborted === true) break;
      const current = await this.#storage.find(file.path);
      if (current === undefined || !this.#age.isDayOld(current.modifiedAtMs)) continue;
      await this.#storage.remove(file.path);
      freedBytes = (freedBytes ?? 0) + current.bytes;
    }
    return freedBytes;
  }

  async *#filesAt(path: string) {
    const file = await this.#storage.find(path);
    if (file === undefined) yield* this.#storage.list(path);
    else yield { path, ...file };
  }
}
