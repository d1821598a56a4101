/** Lets whoever holds it upload videos into a project. */
export interface UploadToken {
  /** Secret, and the id. */
  readonly token: string;
  readonly projectId: string;
  /** Seconds; 0 never expires. */
  readonly ttl: number;
  readonly createdAtMs: number;
  /** Undefined for one that never expires. */
  readonly expiresAtMs: number | undefined;
}

/** The longest life of a token, in seconds. */
export const maxTtlSeconds = 2_147_483_647;
