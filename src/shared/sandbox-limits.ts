/** What holds for the sandbox, in milliseconds. Tests have shorter times; operators cannot change them. */
export interface SandboxLimits {
  /** Videos are cut there. */
  readonly maxVideoMs: number;
  /** A broadcast is ended after this. */
  readonly maxBroadcastMs: number;
  /** Recordings are cut there. */
  readonly maxRecordingMs: number;
  /** A restream is ended after this. */
  readonly maxRestreamMs: number;
  /** Videos and recordings are removed so long after their upload or their recording. */
  readonly retentionMs: number;
}

const second = 1_000;
const minute = 60 * second;

/** The rules of every server. */
export const sandboxLimits: SandboxLimits = {
  maxVideoMs: 30 * second,
  maxBroadcastMs: 30 * minute,
  maxRecordingMs: 30 * second,
  maxRestreamMs: 2 * minute,
  retentionMs: 24 * 60 * minute,
};
