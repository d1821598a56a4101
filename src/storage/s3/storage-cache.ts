import {
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  utimes,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { LRUCache } from 'lru-cache';
import { messageOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { isNotFound, namesIn } from '../folder-names.ts';
import { diskFull } from '../media-files.ts';
import type { ObjectVersion } from './s3-objects.ts';

/** Files are cached in blocks of this size, or whole. */
export const blockBytes = 1024 ** 2;

const whole = 'w';
/** Charged for each entry at least, so that small ones are not too many. */
const minEntryBytes = 16 * 1024;
const maxParallelWrites = 4;
const maxWaitingWrites = 32;
/** The time of last use is written to the disk this often. */
const touchIntervalMs = 10 * 60_000;
const spaceCheckIntervalMs = 3_000;
const maxEtagLength = 100;

interface Entry {
  readonly bytes: number;
  touchedAtMs: number;
}

export interface OpenedEntry {
  readonly file: FileHandle;
  /** Start in the stored file. */
  readonly start: number;
  readonly end: number;
  /** The file lacks bytes. */
  readonly lose: () => void;
}

interface StorageCacheOptions {
  readonly folder: string;
  /** Entries of other buckets and prefixes are removed. */
  readonly bucketId: string;
  readonly maxBytes: number;
  /** Takes no entries while less is free. */
  readonly minFreeBytes: () => number;
  readonly log: Logger;
}

/**
 * Keeps copies of stored files on the local disk: whole, or blocks of them. An entry is
 * `<folder>/<bucketId>/<key>/<etag>.<bytes>.<block>`, complete as soon as it has this name. Without room it keeps nothing.
 */
export class StorageCache {
  readonly #options: StorageCacheOptions;
  readonly #root: string;
  readonly #entries: LRUCache<string, Entry>;
  /** Names of entries by key. There may be hundreds of thousands. */
  readonly #names = new Map<string, Set<string>>();
  readonly #writes = new ConcurrencyLimit(maxParallelWrites);
  readonly #writing = new Set<Promise<void>>();
  readonly #log: ThrottledLog;
  #hasRoom = true;
  #isStopped = false;
  #spaceCheckedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(options: StorageCacheOptions) {
    this.#options = options;
    this.#root = join(options.folder, options.bucketId);
    this.#log = new ThrottledLog(options.log);
    this.#entries = new LRUCache<string, Entry>({
      maxSize: Math.max(1, options.maxBytes),
      sizeCalculation: ({ bytes }) => Math.max(bytes, minEntryBytes),
      dispose: (_entry, name, reason) => {
        if (reason === 'set') return;
        this.#removeName(name);
        void this.#unlink(name);
      },
    });
  }

  /** Finds what earlier runs left. */
  static async open(options: StorageCacheOptions): Promise<StorageCache> {
    const cache = new StorageCache(options);
    for (const name of await namesIn(options.folder)) {
      if (name !== options.bucketId) await rm(join(options.folder, name), { recursive: true, force: true });
    }
    await mkdir(cache.scratchFolder, { recursive: true, mode: 0o700 });
    await cache.#findEntries();
    return cache;
  }

  /** Folder for files that become entries. Emptied at the start. */
  get scratchFolder(): string {
    return join(this.#options.folder, 'scratch');
  }

  get bytes(): number {
    return this.#entries.calculatedSize;
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Opens the entry that holds `position`. Undefined when it is not here. */
  async openAt(key: string, version: ObjectVersion, position: number): Promise<OpenedEntry | undefined> {
    const wholeName = entryName(key, version, whole);
    const block = Math.floor(position / blockBytes);
    const [name, start] = this.#entries.has(wholeName)
      ? [wholeName, 0]
      : [entryName(key, version, block), block * blockBytes];
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    try {
      const file = await open(join(this.#root, name), 'r');
      this.#touch(name, entry);
      const lose = () => this.#drop(name, new Error('The file is shorter than it was'));
      return { file, start, end: start + entry.bytes, lose };
    } catch (error) {
      this.#drop(name, error);
      return undefined;
    }
  }

  hasBlock(key: string, version: ObjectVersion, block: number): boolean {
    return (
      this.#entries.has(entryName(key, version, block)) || this.#entries.has(entryName(key, version, whole))
    );
  }

  /** Begins to write it to the disk, if there is room. */
  addBlock(key: string, version: ObjectVersion, block: number, bytes: Buffer): void {
    if (this.#isStopped) return;
    const written = this.#writeBlock(key, version, block, bytes).finally(() => this.#writing.delete(written));
    this.#writing.add(written);
  }

  /** Resolves when all blocks are written. Later ones are not taken. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writing);
  }

  /** Takes a complete, synced file of the same disk. False when it stays where it is. */
  async adopt(key: string, version: ObjectVersion, path: string): Promise<boolean> {
    if (!(await this.#canTake(version, version.bytes))) return false;
    try {
      await this.#place(path, entryName(key, version, whole), version.bytes);
    } catch (error) {
      this.#log.warn('storage-cache-not-written', { error: messageOf(error) });
      return false;
    }
    const wholeName = entryName(key, version, whole);
    const blocks = wholeName.slice(0, -whole.length);
    for (const name of this.#names.get(key) ?? []) {
      if (name !== wholeName && name.startsWith(blocks)) this.#entries.delete(name);
    }
    return true;
  }

  /** Links the whole file to `path`. False when it is not here. */
  async linkTo(key: string, version: ObjectVersion, path: string): Promise<boolean> {
    const name = entryName(key, version, whole);
    const entry = this.#entries.get(name);
    if (entry === undefined) return false;
    try {
      await link(join(this.#root, name), path);
      if ((await stat(path)).size !== version.bytes) throw new Error('The file has another size than it had');
      this.#touch(name, entry);
      return true;
    } catch (error) {
      await rm(path, { force: true }).catch(() => {});
      this.#drop(name, error);
      return false;
    }
  }

  forget(key: string): void {
    for (const name of this.#names.get(key) ?? []) this.#entries.delete(name);
  }

  forgetAllBelow(prefix: string): void {
    for (const key of this.#names.keys()) if (key.startsWith(prefix)) this.forget(key);
  }

  /**
   * Removes what was not read for longest, until enough is free on the disk.
   * @param missingBytes 0 or less when there are enough
   */
  async makeRoom(missingBytes: () => Promise<number>): Promise<void> {
    for (
      let bytes = await missingBytes();
      bytes > 0 && this.#entries.size > 0;
      bytes = await missingBytes()
    ) {
      const keptBytes = this.#entries.calculatedSize - bytes;
      const removed: string[] = [];
      for (const name of this.#entries.rkeys()) {
        if (this.#entries.calculatedSize <= keptBytes) break;
        removed.push(name);
        this.#entries.delete(name);
      }
      await Promise.all(removed.map(name => this.#unlink(name)));
    }
  }

  /** Removes entries if needed. @throws AppError `disk-full` when so many more bytes would leave too little space */
  async requireRoom(bytes: number): Promise<void> {
    const { folder } = this.#options;
    const minFreeBytes = this.#options.minFreeBytes();
    const freeBytes = async () => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    };
    await this.makeRoom(async () => bytes + minFreeBytes - (await freeBytes()));
    const free = await freeBytes();
    if (free - bytes < minFreeBytes) throw diskFull(bytes, free);
  }

  async canMakeRoom(bytes: number): Promise<boolean> {
    return this.bytes >= bytes;
  }

  /** Known from its cached bytes. */
  *versions(): Iterable<readonly [key: string, version: ObjectVersion]> {
    for (const name of this.#entries.keys()) {
      const parsed = parseEntryName(name);
      if (parsed !== undefined) yield [parsed.key, parsed.version];
    }
  }

  async #writeBlock(key: string, version: ObjectVersion, block: number, bytes: Buffer): Promise<void> {
    if (!(await this.#canTake(version, bytes.length)) || this.#writes.waitingCount >= maxWaitingWrites)
      return;
    const scratch = join(this.scratchFolder, newUuid());
    try {
      await this.#writes.run(() => writeSynced(scratch, bytes));
      await this.#place(scratch, entryName(key, version, block), bytes.length);
    } catch (error) {
      this.#log.warn('storage-cache-not-written', { error: messageOf(error) });
      await rm(scratch, { force: true }).catch(() => {});
    }
  }

  async #canTake(version: ObjectVersion, bytes: number): Promise<boolean> {
    if (Math.max(bytes, minEntryBytes) > this.#options.maxBytes / 2 || version.etag.length > maxEtagLength)
      return false;
    const nowMs = performance.now();
    if (nowMs - this.#spaceCheckedAtMs > spaceCheckIntervalMs) {
      this.#spaceCheckedAtMs = nowMs;
      const space = await statfs(this.#options.folder).catch(() => undefined);
      this.#hasRoom = space !== undefined && space.bavail * space.bsize >= this.#options.minFreeBytes();
      if (!this.#hasRoom) this.#makeRoom();
    }
    return this.#hasRoom;
  }

  /** Uploads and live media come first: a tenth of the cache goes at each check. */
  #makeRoom(): void {
    const keptBytes = this.#entries.calculatedSize * 0.9;
    while (this.#entries.calculatedSize > keptBytes && this.#entries.pop() !== undefined);
    this.#log.warn('storage-cache-without-room', { folder: this.#options.folder });
  }

  async #place(path: string, name: string, bytes: number): Promise<void> {
    const target = join(this.#root, name);
    for (let attempt = 1; ; attempt += 1) {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      try {
        await rename(path, target);
        break;
      } catch (error) {
        // An eviction may have removed the empty folder meanwhile.
        if (attempt === 3 || !isNotFound(error)) throw error;
      }
    }
    this.#add(name, { bytes, touchedAtMs: Date.now() });
  }

  #add(name: string, entry: Entry): void {
    const key = dirname(name);
    const names = this.#names.get(key) ?? new Set();
    this.#names.set(key, names.add(name));
    this.#entries.set(name, entry);
    if (this.#entries.has(name)) return;
    // Removes an entry of an earlier run, whose cache was larger.
    this.#removeName(name);
    void this.#unlink(name);
  }

  #removeName(name: string): void {
    const key = dirname(name);
    const names = this.#names.get(key);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(key);
  }

  #touch(name: string, entry: Entry): void {
    const nowMs = Date.now();
    if (nowMs - entry.touchedAtMs < touchIntervalMs) return;
    entry.touchedAtMs = nowMs;
    utimes(join(this.#root, name), new Date(nowMs), new Date(nowMs)).catch(() => {});
  }

  #drop(name: string, error: unknown): void {
    this.#log.warn('storage-cache-entry-lost', { error: messageOf(error) });
    this.#entries.delete(name);
  }

  async #unlink(name: string): Promise<void> {
    const path = join(this.#root, name);
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#log.warn('storage-cache-not-removed', { error: messageOf(error) }),
    );
    await removeEmptyFolders(dirname(path), this.#root);
  }

  async #findEntries(): Promise<void> {
    const files = await readdir(this.#root, { recursive: true, withFileTypes: true }).catch(() => []);
    const found: { name: string; entry: Entry }[] = [];
    const statting = new ConcurrencyLimit(32);
    await Promise.all(
      files
        .filter(file => !file.isDirectory())
        .map(file =>
          statting.run(async () => {
            const path = join(file.parentPath, file.name);
            const name = relative(this.#root, path);
            const { size, mtimeMs } = await stat(path);
            const isWhole = parseEntryName(name)?.bytes === size;
            if (isWhole) found.push({ name, entry: { bytes: size, touchedAtMs: mtimeMs } });
            else await this.#unlink(name);
          }),
        ),
    );
    found.sort((one, other) => one.entry.touchedAtMs - other.entry.touchedAtMs);
    for (const { name, entry } of found) this.#add(name, entry);
  }
}

function entryName(key: string, { etag, bytes }: ObjectVersion, block: number | typeof whole): string {
  return `${key}/${Buffer.from(etag).toString('base64url')}.${bytes}.${block}`;
}

/** `bytes` are those of the entry. */
function parseEntryName(
  name: string,
): { readonly key: string; readonly version: ObjectVersion; readonly bytes: number } | undefined {
  const [, key, etag, bytesText, block] = /^(.+)\/([\w-]+)\.(\d+)\.(w|\d+)$/.exec(name) ?? [];
  if (key === undefined || etag === undefined) return undefined;
  const bytes = Number(bytesText);
  const version = { etag: Buffer.from(etag, 'base64url').toString(), bytes };
  if (block === whole) return { key, version, bytes };
  return { key, version, bytes: Math.min(blockBytes, bytes - Number(block) * blockBytes) };
}

async function removeEmptyFolders(folder: string, root: string): Promise<void> {
  for (let path = folder; path !== root && path.startsWith(root); path = dirname(path)) {
    try {
      await rmdir(path);
    } catch {
      return;
    }
  }
}

async function writeSynced(path: string, bytes: Buffer): Promise<void> {
  await using file: FileHandle = await open(path, 'wx', 0o600);
  await file.writeFile(bytes);
  await file.datasync();
}
