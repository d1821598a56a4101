import type { AppError } from '../../../shared/errors.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';

export interface Reservation {
  readonly maxBytes: number | undefined;
  limitError(): Promise<AppError>;
  setVideo(videoId: string): Promise<void>;
  /** Call this once, when the request has been answered. */
  end(): Promise<void>;
}

export interface UploadQuotas {
  requireStorage(projectId: string, bytes: number): Promise<unknown>;
  checkBegunUpload(projectId: string, transaction: Transaction): Promise<void>;
  /**
   * @param upload.isNew it begins an upload, unless another request that is being received did
   * @param upload.bodyBytes 0 if unknown; `announcedBytes` follow in later requests
   */
  reserve(
    projectId: string,
    upload: {
      readonly videoId: string | undefined;
      readonly isNew: boolean;
      readonly bodyBytes: number;
      readonly announcedBytes: number;
    },
  ): Promise<Reservation>;
  /** A file has no row before it is complete. */
  isReceiving(videoId: string, connection?: Connection): Promise<boolean>;
}
