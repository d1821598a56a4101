import type { AppError } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';

export interface Reservation {
  readonly maxBytes: number | undefined;
  limitError(): Promise<AppError>;
  release(): void;
}

export interface UploadQuotas {
  requireStorage(projectId: string, bytes: number): Promise<unknown>;
  checkBegunUpload(projectId: string, transaction: Transaction): Promise<void>;
  /** @param upload.bodyBytes 0 if unknown; `announcedBytes` follow in later requests */
  reserve(
    projectId: string,
    upload: { readonly isNew: boolean; readonly bodyBytes: number; readonly announcedBytes: number },
  ): Promise<Reservation>;
}
