/** Lets its holder upload videos to a project without an API key. */
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

export const maxTtlSeconds = 2_147_483_647;
