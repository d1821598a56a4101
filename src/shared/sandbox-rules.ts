/** What holds for the sandbox, in milliseconds. Tests have shorter times; operators cannot change them. */
export interface SandboxRules {
  /** Videos are cut there. */
  readonly videoMs: number;
  /** A broadcast is ended after this. */
  readonly broadcastMs: number;
  /** Recordings are cut there. */
  readonly recordingMs: number;
  /** A restream is ended after this. */
  readonly restreamMs: number;
  /** Videos and recordings are removed so long after their upload or their recording. */
  readonly keptMs: number;
}

const second = 1_000;
const minute = 60 * second;

/** The rules of every server. */
export const sandboxRules: SandboxRules = {
  videoMs: 30 * second,
  broadcastMs: 30 * minute,
  recordingMs: 30 * second,
  restreamMs: 2 * minute,
  keptMs: 24 * 60 * minute,
};
