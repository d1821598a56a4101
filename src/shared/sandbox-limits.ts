/** Tests shorten them; operators cannot change them. */
export interface SandboxLimits {
  readonly maxVideoMs: number;
  readonly maxBroadcastMs: number;
  readonly maxRecordingMs: number;
  readonly maxRestreamMs: number;
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
