import type { OpenedFile } from '../shared/files/opened-file.ts';

export interface StoredFile {
  readonly bytes: number;
  /** Quoted, strong. */
  readonly etag: string;
  readonly modifiedAtMs: number;
}

export interface ListedFile extends StoredFile {
  /** Path in the data folder. */
  readonly path: string;
}

export interface DownloadUrlOptions {
  readonly expiresSeconds: number;
  readonly contentType: string;
  readonly contentDisposition: string;
}

/**
 * Keeps finished files: of videos, images, captions. Each has a path below the data folder, which also names it in
 * object storage (`vod/<videoId>/source`). A path that is not published yet may hold a file that this node writes.
 *
 * All methods that take a `signal` reject with its reason. A storage that cannot be reached fails with the AppError
 * `storage-unavailable`.
 */
export interface MediaStorage {
  readonly kind: 'data-folder' | 's3';

  /** Moves a finished file here, durably and at once: readers see the old file or the whole new one. */
  publish(from: string, to: string, signal?: AbortSignal): Promise<void>;

  /**
   * Makes files durable that were written in their place, such as the renditions of an encode. Call it before a row
   * names them. They stay readable meanwhile and afterwards.
   */
  keep(paths: readonly string[], signal?: AbortSignal): Promise<void>;

  /** Stores bytes that will hardly be read, such as a copy for safety. Readers see the old file or the whole new one. */
  write(path: string, bytes: Buffer, signal?: AbortSignal): Promise<void>;

  /** Undefined when it is missing. Includes files that this node is still writing. */
  find(path: string): Promise<StoredFile | undefined>;

  /** Opens a file for random reads. @throws Error with the code `ENOENT` when it is missing */
  open(path: string): Promise<OpenedFile>;

  /**
   * Gives `work` a local file with these bytes, for programs. It must not be changed, and is only certain to exist
   * until `work` has settled. @throws Error with the code `ENOENT` when it is missing
   */
  withLocal<Result>(
    path: string,
    work: (localPath: string) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;

  /** Copies a file durably within the storage. @throws Error with the code `ENOENT` when `from` is missing */
  copy(from: string, to: string, signal?: AbortSignal): Promise<void>;

  /** A file, or a folder with all that is in it. Does nothing when it is missing. */
  remove(path: string): Promise<void>;

  /** Lists all files below a folder, in no certain order. Includes files that this node is still writing. */
  list(folder: string): AsyncIterable<ListedFile>;

  /** Names of the folders directly in a folder. */
  listFolders(folder: string): AsyncIterable<string>;

  /** Returns a URL from which a client can download the file without this server; undefined when there is none. */
  downloadUrl(path: string, options: DownloadUrlOptions): Promise<string | undefined>;

  /** Says why files cannot be read or written, or undefined. */
  findFault(): Promise<string | undefined>;
}
