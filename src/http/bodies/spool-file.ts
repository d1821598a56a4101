import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { toMachineError } from '../../shared/files/disk-error.ts';

interface SpoolFileOptions {
  readonly path: string;
  readonly needsDigest: boolean;
  readonly checkFreeSpace: () => Promise<void>;
}

/** Saves fifteen round trips to the thread pool. */
const batchBytes = 1_024 * 1_024;
/** Spares the end of a large file a long wait for the disk. */
const syncEveryBytes = 64 * 1_024 * 1_024;

/** One sync at a time in the process: each holds one of the few threads of the pool. */
let isSyncing = false;

/** Holds at most twice {@link batchBytes} in memory. Fails with `disk-full` on a full disk. */
export class SpoolFile extends Writable {
  readonly #options: SpoolFileOptions;
  readonly #hash: Hash | undefined;
  #handle: FileHandle | undefined;
  #batch: Buffer[] = [];
  #batchLength = 0;
  #writing: Promise<void> | undefined;
  #bytesWritten = 0;
  #writtenSinceSync = 0;
  #syncing: Promise<void> | undefined;

  constructor(options: SpoolFileOptions) {
    super({ highWaterMark: batchBytes, decodeStrings: true });
    this.#options = options;
    this.#hash = options.needsDigest ? createHash('sha256') : undefined;
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  /** Returns the SHA-256 of all bytes, once finished. Can be called once. */
  takeDigest(): Buffer | undefined {
    return this.#hash?.digest();
  }

  override _construct(callback: (error?: Error | null) => void): void {
    open(this.#options.path, 'w').then(
      handle => {
        this.#handle = handle;
        callback();
      },
      error => callback(toError(error)),
    );
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#hash?.update(chunk);
    this.#batch.push(chunk);
    this.#batchLength += chunk.length;
    if (this.#batchLength < batchBytes) callback();
    else this.#flush().then(() => callback(), callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#finish().then(() => callback(), callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#batch = [];
    this.#close().then(
      () => callback(error),
      fault => callback(error ?? fault),
    );
  }

  async #flush(): Promise<void> {
    await this.#writing;
    const batch = this.#batch;
    const length = this.#batchLength;
    if (length === 0) return;
    this.#batch = [];
    this.#batchLength = 0;
    this.#writing = this.#writeAll(batch, length);
    // The next waiter sees the failure; there may be none.
    this.#writing.catch(() => {});
  }

  async #writeAll(batch: Buffer[], length: number): Promise<void> {
    const handle = this.#handle!;
    try {
      let left = batch;
      let leftLength = length;
      while (leftLength > 0) {
        const { bytesWritten } = await handle.writev(left);
        leftLength -= bytesWritten;
        if (leftLength > 0) left = dropFirst(left, bytesWritten);
      }
      batch.forEach(releaseMemory);
      this.#bytesWritten += length;
      this.#writtenSinceSync += length;
      if (this.#writtenSinceSync < syncEveryBytes) return;
      this.#writtenSinceSync = 0;
      await this.#options.checkFreeSpace();
      this.#syncMeanwhile(handle);
    } catch (error) {
      throw toError(error);
    }
  }

  #syncMeanwhile(handle: FileHandle): void {
    if (isSyncing) return;
    isSyncing = true;
    this.#syncing = handle
      .datasync()
      .catch(() => {})
      .finally(() => {
        isSyncing = false;
      });
  }

  async #finish(): Promise<void> {
    await this.#flush();
    await this.#writing;
  }

  async #close(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#syncing;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** The garbage collector would let tens of megabytes of chunks accumulate. */
function releaseMemory(chunk: Buffer): void {
  const memory = chunk.buffer;
  if (!(memory instanceof ArrayBuffer) || memory.byteLength !== chunk.byteLength || memory.detached) return;
  memory.transfer(0);
}

function dropFirst(buffers: readonly Buffer[], count: number): Buffer[] {
  let skip = count;
  const rest: Buffer[] = [];
  for (const buffer of buffers) {
    if (skip >= buffer.length) skip -= buffer.length;
    else {
      rest.push(skip === 0 ? buffer : buffer.subarray(skip));
      skip = 0;
    }
  }
  return rest;
}

function toError(error: unknown): Error {
  const told = toMachineError(error);
  return told instanceof Error ? told : new Error(String(told));
}
