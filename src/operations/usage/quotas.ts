import { AppError } from '../../shared/errors.ts';
import { KeyedQueue } from '../../shared/scheduling/keyed-queue.ts';
import type { Transaction } from '../../store/connection.ts';
import type { UsageStore } from './usage.store.ts';

export interface QuotaLimits {
  readonly maxStorageBytes?: number | undefined;
  /** 0 for no limit. */
  readonly maxUploads: number;
}

interface Reservation {
  /** Undefined for no limit. */
  readonly maxBytes: number | undefined;
  limitError(): Promise<AppError>;
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
  readonly #reservations = new KeyedQueue();

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  get limits(): QuotaLimits {
    return this.#options.limits;
  }

  async uploadsInProgress(projectId: string): Promise<number> {
    const open = await this.#options.usage.openUploads(projectId);
    return open + (this.#pending.get(projectId)?.newUploads ?? 0);
  }

  async hasStorage(projectId: string): Promise<boolean> {
    const left = await this.#leftBytes(projectId);
    return left === undefined || left > 0;
  }

  /**
   * Returns how many bytes are left; undefined for no limit.
   * @throws AppError `storage-limit-reached`
   */
  async requireStorage(projectId: string, bytes: number): Promise<number | undefined> {
    const left = await this.#leftBytes(projectId);
    if (left !== undefined && (left <= 0 || bytes > left)) throw await this.#storageError(projectId);
    return left;
  }

  /**
   * Checks the limit once more when an upload has begun: other servers have uploads, too.
   * @throws AppError `upload-limit-reached`
   */
  async checkBegunUpload(projectId: string, transaction: Transaction): Promise<void> {
    const { maxUploads } = this.#options.limits;
    if (maxUploads === 0) return;
    await transaction.lock('upload-limit', projectId);
    if ((await this.#options.usage.openUploads(projectId, transaction)) > maxUploads)
      throw uploadLimitError(maxUploads);
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
  ): Promise<Reservation> {
    // One after another, so that each counts those before it.
    return this.#reservations.run(projectId, async () => {
      const { maxUploads } = this.#options.limits;
      if (upload.isNew && maxUploads > 0 && (await this.uploadsInProgress(projectId)) >= maxUploads)
        throw uploadLimitError(maxUploads);
      const bytes = Math.max(0, upload.bodyBytes - formOverheadBytes);
      const maxBytes = await this.requireStorage(projectId, Math.max(bytes, upload.announcedBytes));
      const newUploads = upload.isNew ? 1 : 0;
      this.#count(projectId, bytes, newUploads);
      return {
        maxBytes,
        limitError: () => this.#storageError(projectId),
        release: () => this.#count(projectId, -bytes, -newUploads),
      };
    });
  }

  #count(projectId: string, bytes: number, newUploads: number): void {
    const arriving = this.#pending.get(projectId) ?? { bytes: 0, newUploads: 0 };
    arriving.bytes += bytes;
    arriving.newUploads += newUploads;
    if (arriving.bytes === 0 && arriving.newUploads === 0) this.#pending.delete(projectId);
    else this.#pending.set(projectId, arriving);
  }

  async #leftBytes(projectId: string): Promise<number | undefined> {
    const { maxStorageBytes } = this.#options.limits;
    return maxStorageBytes === undefined ? undefined : maxStorageBytes - (await this.#usedBytes(projectId));
  }

  async #usedBytes(projectId: string): Promise<number> {
    const { usage } = this.#options;
    const stored = Object.values(await usage.stored(projectId)).reduce((sum, bytes) => sum + bytes, 0);
    const unmeasured = await usage.unmeasuredBytes(projectId);
    return stored + unmeasured + (this.#pending.get(projectId)?.bytes ?? 0);
  }

  async #storageError(projectId: string): Promise<AppError> {
    const detail =
      `${await this.#usedBytes(projectId)} of ${this.#options.limits.maxStorageBytes} bytes are used, and the file does not fit. ` +
      'Delete videos permanently, or ask the operator for more.';
    return new AppError('storage-limit-reached', detail, { details: { detail } });
  }
}

function uploadLimitError(maxUploads: number): AppError {
  const detail = `${maxUploads} uploads are in progress, which is the maximum. Complete one or delete its video.`;
  return new AppError('upload-limit-reached', undefined, { details: { detail } });
}
