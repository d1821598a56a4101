import { AppError } from '../../shared/errors.ts';
import type { Connection, Transaction } from '../../store/connection.ts';
import type { Arrival, ArrivingUploads } from './arriving-uploads.ts';
import type { UsageStore } from './usage.store.ts';

export interface QuotaLimits {
  readonly maxStorageBytes?: number | undefined;
  /** 0 for no limit. */
  readonly maxUploads: number;
}

interface Reservation extends Arrival {
  /** Undefined for no limit. */
  readonly maxBytes: number | undefined;
  limitError(): Promise<AppError>;
}

/** Boundaries and fields make a form larger than its file. */
const formOverheadBytes = 4_096;

interface QuotasOptions {
  readonly limits: QuotaLimits;
  readonly usage: UsageStore;
  readonly arriving: ArrivingUploads;
}

export class Quotas {
  readonly #options: QuotasOptions;

  constructor(options: QuotasOptions) {
    this.#options = options;
  }

  get limits(): QuotaLimits {
    return this.#options.limits;
  }

  async uploadsInProgress(projectId: string, connection?: Connection): Promise<number> {
    const { usage, arriving } = this.#options;
    const { newUploads } = await arriving.totals(projectId, connection);
    return newUploads + (await usage.openUploads(projectId, connection));
  }

  isReceiving(videoId: string, connection?: Connection): Promise<boolean> {
    return this.#options.arriving.isReceiving(videoId, connection);
  }

  async hasStorage(projectId: string): Promise<boolean> {
    const left = await this.#leftBytes(projectId);
    return left === undefined || left > 0;
  }

  /**
   * Returns how many bytes are left; undefined for no limit.
   * @throws AppError `storage-limit-reached`
   */
  async requireStorage(
    projectId: string,
    bytes: number,
    connection?: Connection,
  ): Promise<number | undefined> {
    const left = await this.#leftBytes(projectId, connection);
    if (left !== undefined && (left <= 0 || bytes > left))
      throw await this.#storageError(projectId, connection);
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
   * Counts a request that sends a file, until it ends.
   * @param upload.videoId undefined if unknown
   * @param upload.isNew it begins an upload, unless another request that is being received did
   * @param upload.bodyBytes 0 if unknown
   * @param upload.announcedBytes rest of the whole file, as far as the request says
   * @throws AppError `storage-limit-reached` or `upload-limit-reached`
   */
  async reserve(
    projectId: string,
    upload: {
      readonly videoId: string | undefined;
      readonly isNew: boolean;
      readonly bodyBytes: number;
      readonly announcedBytes: number;
    },
  ): Promise<Reservation> {
    const { videoId } = upload;
    const { arriving } = this.#options;
    const { maxUploads } = this.#options.limits;
    const bytes = Math.max(0, upload.bodyBytes - formOverheadBytes);
    let maxBytes: number | undefined;
    const arrival = await arriving.add(projectId, async connection => {
      const isReceiving = videoId !== undefined && (await arriving.isReceiving(videoId, connection));
      const isNew = upload.isNew && !isReceiving;
      if (isNew && maxUploads > 0 && (await this.uploadsInProgress(projectId, connection)) >= maxUploads)
        throw uploadLimitError(maxUploads);
      // The request that is being received was checked with the announced length.
      const announcedBytes = isReceiving ? 0 : upload.announcedBytes;
      maxBytes = await this.requireStorage(projectId, Math.max(bytes, announcedBytes), connection);
      return { videoId, bytes, isNew };
    });
    return { ...arrival, maxBytes, limitError: () => this.#storageError(projectId) };
  }

  async #leftBytes(projectId: string, connection?: Connection): Promise<number | undefined> {
    const { maxStorageBytes } = this.#options.limits;
    if (maxStorageBytes === undefined) return undefined;
    return maxStorageBytes - (await this.#usedBytes(projectId, connection));
  }

  /** Asks in the order that files take: one that moves on meanwhile counts twice rather than not at all. */
  async #usedBytes(projectId: string, connection?: Connection): Promise<number> {
    const { usage, arriving } = this.#options;
    const { bytes } = await arriving.totals(projectId, connection);
    const unmeasured = await usage.unmeasuredBytes(projectId, connection);
    const stored = Object.values(await usage.stored(projectId, connection));
    return stored.reduce((sum, one) => sum + one, 0) + unmeasured + bytes;
  }

  async #storageError(projectId: string, connection?: Connection): Promise<AppError> {
    const detail =
      `${await this.#usedBytes(projectId, connection)} of ${this.#options.limits.maxStorageBytes} bytes are used, and the file does not fit. ` +
      'Delete videos permanently, or ask the operator for more.';
    return new AppError('storage-limit-reached', detail, { details: { detail } });
  }
}

function uploadLimitError(maxUploads: number): AppError {
  const detail = `${maxUploads} uploads are in progress, which is the maximum. Complete one or delete its video.`;
  return new AppError('upload-limit-reached', undefined, { details: { detail } });
}
