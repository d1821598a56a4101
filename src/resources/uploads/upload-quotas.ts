import type { AppError } from '../../shared/errors.ts';

export interface Reservation {
  readonly maxBytes: number | undefined;
  limitError(): AppError;
  release(): void;
}

export interface UploadQuotas {
  requireStorage(projectId: string, bytes: number): void;
  requireUpload(projectId: string): void;
  /** @param upload.bodyBytes 0 if unknown; `announcedBytes` follow in later requests */
  reserve(
    projectId: string,
    upload: { readonly isNew: boolean; readonly bodyBytes: number; readonly announcedBytes: number },
  ): Reservation;
}
