export interface UploadToken {
  /** Secret, and the id. */
  readonly token: string;
  readonly projectId: string;
  /** Seconds; 0 never expires. */
  readonly ttl: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
}
