import type { AppError } from '../../shared/errors.ts';

/** A request that sends a file, from its start to its response. */
export interface Reservation {
  /** The largest allowed file; undefined for no limit. */
  readonly maxBytes: number | undefined;
  /** Returns the error for a larger file. */
  limitError(): AppError;
  /** Call this once, when the request has been answered. */
  release(): void;
}

/** The storage and upload limits of projects. */
export interface UploadQuotas {
  /** @throws AppError `storage-limit-reached` when the project cannot store so many more bytes */
  requireStorage(projectId: string, bytes: number): void;
  /** @throws AppError `upload-limit-reached` when the project cannot begin another upload */
  requireUpload(projectId: string): void;
  /**
   * Counts a request that sends a file.
   *
   * @param upload.bodyBytes length of its body; 0 if unknown
   * @param upload.announcedBytes what is still to come of the whole file, as far as the request says
   * @throws AppError `storage-limit-reached` or `upload-limit-reached`
   */
  reserve(
    projectId: string,
    upload: { readonly isNew: boolean; readonly bodyBytes: number; readonly announcedBytes: number },
  ): Reservation;
}
