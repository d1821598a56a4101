import { AppError } from '../../shared/errors.ts';
import type { UsageStore } from './usage.store.ts';

export interface QuotaLimits {
  readonly maxStorageBytes?: number | undefined;
  /** 0 for no limit. */
  readonly maxUploads: number;
}

interface Reservation {
  /** Undefined for no limit. */
  readonly maxBytes: number | undefined;
  limitError(): AppError;
  /** Call this once, when the request has been answered. */
  release(): void;
}

interface PendingUploads {
  bytes: number;
  newUploads: number;
}

/** Boundaries and fields make a form larger than its file. */
const formOverheadBytes = 4_096;

interface QuotasOptions {
  readonly limits: QuotaLimits;
  readonly usage: UsageStore;
}

export class Quotas {
  readonly #options: QuotasOptions;
  readonly #pending = new Map<string, PendingUploads>();

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  get limits(): QuotaLimits {
    return this.#options.limits;
  }

  uploadsInProgress(projectId: string): number {
    return this.#options.usage.openUploads(projectId) + (this.#pending.get(projectId)?.newUploads ?? 0);
  }

  hasStorage(projectId: string): boolean {
    const left = this.#leftBytes(projectId);
    return left === undefined || left > 0;
  }

  /** @throws AppError `storage-limit-reached` */
  requireStorage(projectId: string, bytes: number): void {
    const left = this.#leftBytes(projectId);
    if (left !== undefined && (left <= 0 || bytes > left)) throw this.#storageError(projectId);
  }

  /** @throws AppError `upload-limit-reached` */
  requireUpload(projectId: string): void {
    const { maxUploads } = this.#options.limits;
    if (maxUploads === 0 || this.uploadsInProgress(projectId) < maxUploads) return;
    const detail = `${maxUploads} uploads are in progress, which is the maximum. Complete one or delete its video.`;
    throw new AppError('upload-limit-reached', undefined, { details: { detail } });
  }

  /**
   * Counts a request that sends a file, until it is released.
   * @param upload.bodyBytes 0 if unknown
   * @param upload.announcedBytes rest of the whole file, as far as the request says
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
    const { maxStorageBytes } = this.#options.limits;
    return maxStorageBytes === undefined ? undefined : maxStorageBytes - this.#usedBytes(projectId);
  }

  #usedBytes(projectId: string): number {
    const stored = Object.values(this.#options.usage.stored(projectId)).reduce(
      (sum, bytes) => sum + bytes,
      0,
    );
    return (
      stored + this.#options.usage.unmeasuredBytes(projectId) + (this.#pending.get(projectId)?.bytes ?? 0)
    );
  }

  #storageError(projectId: string): AppError {
    const detail =
      `${this.#usedBytes(projectId)} of ${this.#options.limits.maxStorageBytes} bytes are used, and the file does not fit. ` +
      'Delete videos permanently, or ask the operator for more.';
    return new AppError('storage-limit-reached', detail, { details: { detail } });
  }
}
