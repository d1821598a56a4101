import { AppError } from '../../shared/errors.ts';
import type { QuotasStore } from './quotas.store.ts';
import type { UsageStore } from './usage.store.ts';

/** Limits of each project, that is, of the sandbox and of production of each account. */
export interface QuotaLimits {
  /** Bytes of the files of its videos; undefined is no limit. */
  readonly maxStorageBytes?: number | undefined;
  /** Uploads in progress; 0 is no limit. */
  readonly maxUploads: number;
}

/** A request that sends a file, until it is answered. */
export interface Reservation {
  /** The most bytes that the file may have; undefined is no limit. */
  readonly maxBytes: number | undefined;
  /** The error for a file with more bytes. */
  limitError(): AppError;
  /** To be called once when the request has been answered. */
  release(): void;
}

/** Requests of a project that are sending files. */
interface PendingUploads {
  bytes: number;
  newUploads: number;
}

/** A form is longer than the file in it by its boundaries and fields. */
const formOverheadBytes = 4_096;

/** Holds what projects store and upload against their limits. */
export class Quotas {
  readonly #limits: QuotaLimits;
  readonly #store: QuotasStore;
  readonly #usage: UsageStore;
  readonly #pending = new Map<string, PendingUploads>();

  constructor(options: { limits: QuotaLimits; store: QuotasStore; usage: UsageStore }) {
    this.#limits = options.limits;
    this.#store = options.store;
    this.#usage = options.usage;
  }

  get limits(): QuotaLimits {
    return this.#limits;
  }

  /** Uploads that have begun and are not complete. */
  uploadsInProgress(projectId: string): number {
    return this.#store.openUploads(projectId) + (this.#pending.get(projectId)?.newUploads ?? 0);
  }

  /** Returns whether a project may store any more. */
  hasStorage(projectId: string): boolean {
    const left = this.#leftBytes(projectId);
    return left === undefined || left > 0;
  }

  /** @throws AppError `storage-limit-reached` when a project may not store so many more bytes */
  requireStorage(projectId: string, bytes: number): void {
    const left = this.#leftBytes(projectId);
    if (left !== undefined && (left <= 0 || bytes > left)) throw this.#storageError(projectId);
  }

  /** @throws AppError `upload-limit-reached` when a project may not begin another upload */
  requireUpload(projectId: string): void {
    const { maxUploads } = this.#limits;
    if (maxUploads === 0 || this.uploadsInProgress(projectId) < maxUploads) return;
    const detail = `${maxUploads} uploads are in progress, which is the maximum. Complete one, or delete its video.`;
    throw new AppError('upload-limit-reached', undefined, { details: { detail } });
  }

  /**
   * Counts a request that sends a file until it is over.
   *
   * @param upload.isNew the request begins an upload
   * @param upload.bodyBytes the length of its body; 0 where that is unknown
   * @param upload.remainingBytes what is still to come of the whole file, as far as the request says
   * @throws AppError `storage-limit-reached` or `upload-limit-reached`
   */
  reserve(
    projectId: string,
    upload: { isNew: boolean; bodyBytes: number; announcedBytes: number },
  ): Reservation {
    if (upload.isNew) this.requireUpload(projectId);
    const bytes = Math.max(0, upload.bodyBytes - formOverheadBytes);
    this.requireStorage(projectId, Math.max(bytes, upload.announcedBytes));
    const maxBytes = this.#leftBytes(projectId);
    const newUploads = upload.isNew ? 1 : 0;
    this.#count(projectId, bytes, newUploads);
    return {
      maxBytes,
      limitError: () => this.#storageError(projectId),
      release: () => this.#count(projectId, -bytes, -newUploads),
    };
  }

  #count(projectId: string, bytes: number, newUploads: number): void {
    const arriving = this.#pending.get(projectId) ?? { bytes: 0, newUploads: 0 };
    arriving.bytes += bytes;
    arriving.newUploads += newUploads;
    if (arriving.bytes === 0 && arriving.newUploads === 0) this.#pending.delete(projectId);
    else this.#pending.set(projectId, arriving);
  }

  #leftBytes(projectId: string): number | undefined {
    const { maxStorageBytes } = this.#limits;
    return maxStorageBytes === undefined ? undefined : maxStorageBytes - this.#usedBytes(projectId);
  }

  #usedBytes(projectId: string): number {
    const stored = Object.values(this.#usage.stored(projectId)).reduce((sum, bytes) => sum + bytes, 0);
    return stored + this.#store.unmeasuredBytes(projectId) + (this.#pending.get(projectId)?.bytes ?? 0);
  }

  #storageError(projectId: string): AppError {
    const detail =
      `${this.#usedBytes(projectId)} of ${this.#limits.maxStorageBytes} bytes are used, and the file does not fit. ` +
      'Delete videos permanently, or ask the operator for more.';
    return new AppError('storage-limit-reached', detail, { details: { detail } });
  }
}
