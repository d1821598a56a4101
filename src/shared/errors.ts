import type { ErrorEntry } from './error-entry.ts';
import { type ErrorCode, errorRegister } from './error-register.ts';

export { type ErrorCode, errorRegister };

export interface Problem {
  readonly type?: ErrorCode;
  readonly title: string;
  /** Name such as `restreams[0][serverUrl]`. */
  readonly name: string;
  readonly detail?: string;
  readonly range?: { readonly min?: number; readonly max?: number };
}

interface ErrorDetails {
  /** The one field at fault; `''` where the contract wants an empty name. */
  readonly name?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly range?: { readonly min?: number; readonly max?: number };
  /** Problems of the request. The first is repeated at the top of the response. */
  readonly problems?: readonly Problem[];
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** `message` is for logs and operators. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message?: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(
      message ?? errorRegister[code].title,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.details = options.details ?? {};
  }

  get kind(): ErrorEntry['kind'] {
    return this.#entry.kind;
  }

  get status(): number {
    return this.#entry.status;
  }

  /** `error` when an operator must act, `info` when a client was refused. */
  get logLevel(): 'error' | 'warn' | 'info' {
    const { logLevel, kind, blame } = this.#entry;
    if (logLevel !== undefined) return logLevel;
    if (kind === 'internal') return 'error';
    return blame === 'caller' ? 'info' : 'warn';
  }

  get #entry(): ErrorEntry {
    return errorRegister[this.code];
  }
}

export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s+/g, ' ').trim();
}

export function systemCodeOf(thrown: unknown): string | undefined {
  if (thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string') return thrown.code;
  return undefined;
}

/** The connection to the database was lost: a transaction may be committed nevertheless. */
export function mayBeCommitted(error: unknown): boolean {
  return error instanceof AppError && error.code === 'database-unusable';
}
