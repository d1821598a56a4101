import { link, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import { newUuid } from '../../shared/ids.ts';
import { DataFolderStorage } from '../data-folder-storage.ts';
import { isNotFound } from '../folder-names.ts';
import type { DownloadUrlOptions, ListedFile, MediaStorage, StoredFile } from '../media-storage.ts';
import { BlockReader, type RemoteFile } from './block-reader.ts';
import { forEachFile } from './for-each-file.ts';
import { LocalCopies } from './local-copies.ts';
import { ObjectVersions } from './object-versions.ts';
import { notFoundError, S3Fault } from './s3-fault.ts';
import { abortOldUploads, copyObject, uploadFile } from './s3-multipart.ts';
import type { ObjectVersion, S3Objects } from './s3-objects.ts';
import type { S3Observer } from './s3-requests.ts';
import type { StorageCache } from './storage-cache.ts';

const oldUploadMs = 24 * 3_600_000;
const faultTrustMs = 3_000;

/** The bucket may hold other things, too. */
export function isMediaKey(key: string, prefix: string): boolean {
  return isFileKey(key, prefix) && /^(vod|live|players|watermarks|uploads)\//.test(key.slice(prefix.length));
}

/** False for markers of folders, and for keys that would lead elsewhere on the disk. */
function isFileKey(key: string, prefix: string): boolean {
  const names = key.slice(prefix.length).split('/');
  return key.startsWith(prefix) && names.every(name => !['', '.', '..'].includes(name));
}

interface S3StorageOptions {
  readonly root: string;
  readonly objects: S3Objects;
  /** Prefix of all keys: empty, or ends with a slash. */
  readonly prefix: string;
  readonly cache: StorageCache;
  /** Clients may download from the S3 server. */
  readonly canRedirect: boolean;
  readonly observer: S3Observer | undefined;
}

/**
 * Keeps files in a bucket, under their path in the data folder. A file in its place in the data folder is one that this node
 * is still writing: it comes first.
 */
export class S3Storage implements MediaStorage {
  readonly kind = 's3';
  readonly #options: S3StorageOptions;
  readonly #root: string;
  readonly #objects: S3Objects;
  readonly #cache: StorageCache;
  readonly #local: DataFolderStorage;
  readonly #versions: ObjectVersions;
  readonly #reader: BlockReader;
  readonly #copies: LocalCopies;
  #fault: Promise<string | undefined> | undefined;
  #faultCheckedAtMs = 0;

  constructor(options: S3StorageOptions) {
    const { root, objects, prefix, cache, observer } = options;
    this.#options = options;
    this.#root = resolve(root);
    this.#objects = objects;
    this.#cache = cache;
    this.#local = new DataFolderStorage(this.#root);
    this.#versions = new ObjectVersions(objects, prefix, cache.versions());
    this.#reader = new BlockReader({ objects, cache, observer, onStale: key => this.#forget(key) });
    this.#copies = new LocalCopies(objects, cache, this.#reader);
  }

  get cache(): StorageCache {
    return this.#cache;
  }

  /** Keeps what is on disk. */
  releaseMemory(): void {
    this.#reader.releaseMemory();
  }

  async publish(from: string, to: string, signal?: AbortSignal): Promise<void> {
    const version = await this.#upload(from, to, signal);
    await this.#becomeCached(from, to, version);
    // An older one that was still in its place would come first.
    if (resolve(from) !== resolve(to)) await rm(to, { force: true });
  }

  async keep(paths: readonly string[], signal?: AbortSignal): Promise<void> {
    await forEachFile(paths, signal, (path, stop) => this.#keep(path, stop));
  }

  async write(path: string, bytes: Buffer, signal?: AbortSignal): Promise<void> {
    const key = this.#keyOf(path);
    try {
      await this.#objects.put(key, async () => bytes, signal);
    } catch (error) {
      throw error instanceof S3Fault ? error.toAppError() : error;
    }
    this.#forget(key);
  }

  async find(path: string): Promise<StoredFile | undefined> {
    return (await this.#local.find(path)) ?? (await this.#versions.find(this.#keyOf(path)));
  }

  async open(path: string): Promise<OpenedFile> {
    try {
      return await this.#local.open(path);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return this.#reader.open(await this.#remoteFile(path));
    }
  }

  async withLocal<Result>(
    path: string,
    work: (localPath: string) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const folder = join(this.#cache.scratchFolder, newUuid());
    try {
      const inPlace = await linkInto(folder, path);
      if (inPlace !== undefined) return await work(inPlace);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return await this.#copies.use(await this.#remoteFile(path, { isFresh: true }), work, signal);
  }

  async copy(from: string, to: string, signal?: AbortSignal): Promise<void> {
    if ((await this.#local.find(from)) !== undefined) await this.#upload(from, to, signal);
    else {
      const { key, version } = await this.#remoteFile(from, { isFresh: true });
      try {
        await copyObject(this.#objects, { from: key, to: this.#keyOf(to), version }, signal);
      } catch (error) {
        throw this.#reader.staleError(error, { key, path: from });
      }
    }
    this.#forget(this.#keyOf(to));
    await rm(to, { force: true });
  }

  async remove(path: string): Promise<void> {
    const key = this.#keyOf(path);
    await this.#objects.remove(key);
    await this.#objects.removeAllBelow(`${key}/`);
    await this.#local.remove(path);
    this.#forget(key);
    for (const known of [this.#versions, this.#cache]) known.forgetAllBelow(`${key}/`);
  }

  async *list(folder: string): AsyncIterable<ListedFile> {
    const inPlace = new Set<string>();
    for await (const file of this.#local.list(folder)) {
      inPlace.add(file.path);
      yield file;
    }
    for await (const { key, ...file } of this.#objects.list(`${this.#keyOf(folder)}/`)) {
      if (!isFileKey(key, this.#options.prefix)) continue;
      const path = this.#pathOf(key);
      if (!inPlace.has(path)) yield { path, ...file };
    }
  }

  async *listFolders(folder: string): AsyncIterable<string> {
    const inPlace = new Set<string>();
    for await (const name of this.#local.listFolders(folder)) {
      inPlace.add(name);
      yield name;
    }
    for await (const prefix of this.#objects.listPrefixes(`${this.#keyOf(folder)}/`)) {
      const name = basename(prefix);
      if (!inPlace.has(name)) yield name;
    }
  }

  async downloadUrl(path: string, options: DownloadUrlOptions): Promise<string | undefined> {
    if (!this.#options.canRedirect || (await this.#local.find(path)) !== undefined) return undefined;
    const { client, bucket } = this.#objects;
    const command = new GetObjectCommand({
      Bucket: bucket,
      Key: this.#keyOf(path),
      ResponseContentType: options.contentType,
      ResponseContentDisposition: options.contentDisposition,
    });
    return await getSignedUrl(client, command, {
      expiresIn: options.expiresSeconds,
      signingDate: new Date(Date.now() + client.config.systemClockOffset),
    });
  }

  /** Asks the bucket. @throws AppError when it cannot be used */
  check(): Promise<void> {
    return this.#objects.check(this.#options.prefix);
  }

  /** Asks at most every few seconds, however many ask here. */
  findFault(): Promise<string | undefined> {
    const nowMs = performance.now();
    if (this.#fault === undefined || nowMs - this.#faultCheckedAtMs > faultTrustMs) {
      this.#faultCheckedAtMs = nowMs;
      this.#fault = this.check().then(
        () => undefined,
        (error: unknown) => `storage-unavailable: ${messageOf(error)}`,
      );
    }
    return this.#fault;
  }

  /** Ends multipart uploads that a crash left. Returns their number. */
  abortOldUploads(nowMs: number, signal?: AbortSignal): Promise<number> {
    const { prefix } = this.#options;
    return abortOldUploads(
      this.#objects,
      { prefix, isOurs: key => isMediaKey(key, prefix), before: nowMs - oldUploadMs },
      signal,
    );
  }

  async stop(): Promise<void> {
    this.#objects.stop();
    await this.#cache.stop();
  }

  async #keep(path: string, signal: AbortSignal | undefined): Promise<void> {
    let version: ObjectVersion;
    try {
      version = await this.#upload(path, path, signal);
    } catch (error) {
      // Returns when the file was kept before.
      if (systemCodeOf(error) === 'ENOENT' && (await this.#versions.find(this.#keyOf(path))) !== undefined)
        return;
      throw error;
    }
    await this.#becomeCached(path, path, version);
  }

  async #upload(from: string, to: string, signal: AbortSignal | undefined): Promise<ObjectVersion> {
    signal?.throwIfAborted();
    try {
      return await uploadFile(this.#objects, from, this.#keyOf(to), signal);
    } catch (error) {
      throw error instanceof S3Fault ? error.toAppError() : error;
    }
  }

  /** Readers of the file go on: it moves within the disk. */
  async #becomeCached(from: string, to: string, version: ObjectVersion): Promise<void> {
    const key = this.#keyOf(to);
    this.#forget(key);
    this.#versions.remember(key, version);
    // Moved away first: nobody may find it in its place once it belongs to the cache.
    const scratch = join(this.#cache.scratchFolder, newUuid());
    try {
      await rename(from, scratch);
    } catch (error) {
      // Leaves a file of another file system: the cache gets it with the first read.
      if (systemCodeOf(error) !== 'EXDEV') throw error;
      await rm(from, { force: true });
      return;
    }
    if (!(await this.#cache.adopt(key, version, scratch))) await rm(scratch, { force: true });
  }

  async #remoteFile(path: string, { isFresh = false } = {}): Promise<RemoteFile> {
    const key = this.#keyOf(path);
    const version = await (isFresh ? this.#versions.find(key) : this.#versions.current(key));
    if (version !== undefined) return { path, key, version };
    this.#cache.forget(key);
    throw notFoundError(path);
  }

  #forget(key: string): void {
    this.#versions.forget(key);
    this.#cache.forget(key);
  }

  #keyOf(path: string): string {
    const inFolder = relative(this.#root, resolve(path));
    if (inFolder === '' || inFolder.startsWith('..')) {
      throw new AppError('path-outside-root', `${path} is not below ${this.#root}`);
    }
    return this.#options.prefix + inFolder.split(sep).join('/');
  }

  #pathOf(key: string): string {
    return join(this.#root, key.slice(this.#options.prefix.length));
  }
}

/** A link lasts when the file is kept meanwhile. Undefined when the file is missing. */
async function linkInto(folder: string, path: string): Promise<string | undefined> {
  const linked = join(folder, basename(path));
  await mkdir(folder, { mode: 0o700 });
  try {
    await link(path, linked);
    return linked;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    // File systems without links.
    return path;
  }
}
