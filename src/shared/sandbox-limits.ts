/** Limits of the sandbox. Tests shorten them; operators cannot change them. */
export interface SandboxLimits {
  /** Longer videos are cut. */
  readonly maxVideoMs: number;
  /** Longer broadcasts are ended. */
  readonly maxBroadcastMs: number;
  /** Longer recordings are cut. */
  readonly maxRecordingMs: number;
  /** Longer restreams are ended. */
  readonly maxRestreamMs: number;
  /** Videos and recordings are deleted at this age. */
  readonly retentionMs: number;
}

const second = 1_000;
const minute = 60 * second;

export const sandboxLimits: SandboxLimits = {
  maxVideoMs: 30 * second,
  maxBroadcastMs: 30 * minute,
  maxRecordingMs: 30 * second,
  maxRestreamMs: 2 * minute,
  retentionMs: 24 * 60 * minute,
};
