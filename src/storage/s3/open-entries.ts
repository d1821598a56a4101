import type { ObjectName } from './s3-objects.ts';
import type { OpenedEntry, StorageCache } from './storage-cache.ts';

export interface ReadTarget {
  readonly buffer: Buffer;
  readonly offset: number;
  readonly length: number;
}

interface HeldEntry extends OpenedEntry {
  users: number;
  isRetired: boolean;
}

/** Reads one stored file from the cache. Keeps the entry open that was read last. */
export class OpenEntries {
  readonly #cache: StorageCache;
  readonly #object: ObjectName;
  readonly #open = new Set<HeldEntry>();
  #held: HeldEntry | undefined;
  #isClosed = false;

  constructor(cache: StorageCache, object: ObjectName) {
    this.#cache = cache;
    this.#object = object;
  }

  /** Undefined when the cache does not have the bytes at `position`. */
  async read({ buffer, offset, length }: ReadTarget, position: number): Promise<number | undefined> {
    const entry = await this.#entryAt(position);
    if (entry === undefined) return undefined;
    try {
      const { bytesRead } = await entry.file.read(
        buffer,
        offset,
        Math.min(length, entry.end - position),
        position - entry.start,
      );
      if (bytesRead > 0) return bytesRead;
      entry.lose();
      await this.#retire(entry);
      return undefined;
    } finally {
      entry.users -= 1;
      if (entry.isRetired) await this.#retire(entry);
    }
  }

  /** Awaits reads of the file system. Those that continue later must not write to the buffers of their callers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map(({ file }) => file.close()));
  }

  assertOpen(): void {
    if (this.#isClosed) throw new Error('The file was closed while it was read');
  }

  /** Counts the caller as a user. */
  async #entryAt(position: number): Promise<HeldEntry | undefined> {
    const held = this.#held;
    if (held !== undefined && position >= held.start && position < held.end) {
      held.users += 1;
      return held;
    }
    const { key, version } = this.#object;
    const opened = await this.#cache.openAt(key, version, position);
    if (opened === undefined) return undefined;
    const before = this.#held;
    const entry = { ...opened, users: 1, isRetired: false };
    this.#held = entry;
    this.#open.add(entry);
    if (before !== undefined) await this.#retire(before);
    if (this.#isClosed) await entry.file.close();
    this.assertOpen();
    return entry;
  }

  /** Retires an entry; the last reader closes it. */
  async #retire(entry: HeldEntry): Promise<void> {
    entry.isRetired = true;
    if (this.#held === entry) this.#held = undefined;
    if (entry.users > 0) return;
    this.#open.delete(entry);
    await entry.file.close();
  }
}
