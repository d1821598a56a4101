import type { ProcessExit } from '../../ffmpeg/process/owned-process.ts';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { RestreamTarget } from './restream-target.ts';

/** Why a destination is not sent anything now. */
export const restreamReasons = [
  'name-not-found',
  'not-public',
  'connection-refused',
  'unreachable',
  'timed-out',
  'tls',
  'refused',
  'closed',
  'stalled',
  'failed',
  'codec',
  'sandbox-limit',
] as const;

/** A reason of {@link restreamReasons}. */
export type RestreamReason = (typeof restreamReasons)[number];

/** What went wrong at a destination. */
export interface RestreamFailure {
  readonly reason: RestreamReason;
  /** For a person; without the key. */
  readonly detail: string;
  /** Trying again soon is of no use: somebody has to change something. */
  readonly isLasting: boolean;
}

/** What a destination answered to a command: `code` such as `NetStream.Publish.BadName`. */
export interface RtmpStatus {
  readonly code: string;
  readonly description: string;
}

/** A failure that whoever tries to connect knows by itself. */
export class RestreamError extends Error {
  override readonly name = 'RestreamError';
  readonly failure: RestreamFailure;

  constructor(failure: RestreamFailure) {
    super(failure.detail);
    this.failure = failure;
  }
}

const unreachableCodes: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENETDOWN',
]);
const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const timeoutCodes: ReadonlySet<string> = new Set(['ETIMEDOUT', 'ETIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT']);
const nameCodes = /^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EBADNAME|EBADRESP|EAI_\w+)$/;
const tlsCodes = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;
/** What a destination says of a key or an app that it does not take. */
const lastingStatuses =
  /^Net(Stream\.Publish\.(BadName|Denied|Rejected|Unauthorized)|Connection\.Connect\.(Rejected|InvalidApp|AppShutdown))/i;
const longestDetail = 300;

/** What became of trying to connect to `target`, or of a connection to it. */
export function failureFromError(error: unknown, { host, port }: RestreamTarget): RestreamFailure {
  if (error instanceof RestreamError) return error.failure;
  const code = systemCodeOf(error) ?? '';
  const at = `${host}:${port}`;
  const soon = (reason: RestreamReason, detail: string) => ({ reason, detail, isLasting: false });
  // Name servers are asked as `ECONNREFUSED` too, so what failed is told by the call.
  const isOfName = error instanceof Error && 'hostname' in error && 'syscall' in error;
  if (nameCodes.test(code) || isOfName) return soon('name-not-found', `The name ${host} was not found.`);
  if (code === 'ECONNREFUSED') return soon('connection-refused', `Nothing takes connections at ${at}.`);
  if (unreachableCodes.has(code)) return soon('unreachable', `${at} cannot be reached.`);
  if (timeoutCodes.has(code)) return soon('timed-out', `${at} did not answer.`);
  if (tlsCodes.test(code)) {
    const isOfOpenSsl = error instanceof Error && 'reason' in error && typeof error.reason === 'string';
    const what = (isOfOpenSsl ? (error.reason as string) : messageOf(error)).slice(0, longestDetail);
    return { reason: 'tls', detail: `The TLS connection to ${at} failed: ${what}.`, isLasting: true };
  }
  if (closedCodes.has(code)) return soon('closed', `${at} closed the connection.`);
  return soon('failed', `The connection to ${at} failed: ${messageOf(error).slice(0, longestDetail)}.`);
}

/** What the destination answered in place of taking the stream. */
export function failureFromStatus({ code, description }: RtmpStatus): RestreamFailure {
  const said = [code, description].filter(text => text !== '').join(': ');
  return {
    reason: 'refused',
    detail: `The destination refuses the stream (${said.slice(0, longestDetail)}). Check its address and key.`,
    isLasting: lastingStatuses.test(code),
  };
}

/** What an ffmpeg that ended by itself gives as its reason, for want of a better one. */
export function failureFromExit({ code, signal, lastLines }: ProcessExit): RestreamFailure {
  const how = signal === null ? `code ${code}` : `signal ${signal}`;
  const line = lastLines.findLast(text => /\S/.test(text))?.trim() ?? '';
  const detail = `ffmpeg ended with ${how}${line === '' ? '' : `: ${line.slice(0, longestDetail)}`}.`;
  return { reason: 'failed', detail, isLasting: false };
}
