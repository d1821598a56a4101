import type { RtmpStatus } from '../../media/rtmp/publish-client.ts';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { RestreamTarget } from './restream-target.ts';

const restreamReasons = [
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

export type RestreamReason = (typeof restreamReasons)[number];

export interface RestreamFailure {
  readonly reason: RestreamReason;
  /** Text for a person; without the stream key. */
  readonly detail: string;
  /** Retrying is useless until somebody changes something. */
  readonly isLasting: boolean;
}

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
/** Rejected stream key or app. */
const lastingStatuses =
  /^Net(Stream\.Publish\.(BadName|Denied|Rejected|Unauthorized)|Connection\.Connect\.(Rejected|InvalidApp|AppShutdown))/i;
const maxDetailLength = 300;

export function failureFromError(error: unknown, { host, port }: RestreamTarget): RestreamFailure {
  if (error instanceof RestreamError) return error.failure;
  const code = systemCodeOf(error) ?? '';
  const at = `${host}:${port}`;
  const temporary = (reason: RestreamReason, detail: string) => ({ reason, detail, isLasting: false });
  // DNS queries fail with `ECONNREFUSED` too; they have a hostname.
  const isDnsError = error instanceof Error && 'hostname' in error && 'syscall' in error;
  if (nameCodes.test(code) || isDnsError)
    return temporary(
      'name-not-found',
      `The name ${host} was not found. Check the address of the destination.`,
    );
  if (code === 'ECONNREFUSED')
    return temporary(
      'connection-refused',
      `${at} refuses connections. Check the address and port of the destination.`,
    );
  if (unreachableCodes.has(code)) return temporary('unreachable', `${at} cannot be reached.`);
  if (timeoutCodes.has(code)) return temporary('timed-out', `${at} did not answer.`);
  if (tlsCodes.test(code)) {
    const isOpenSslError = error instanceof Error && 'reason' in error && typeof error.reason === 'string';
    const what = (isOpenSslError ? (error.reason as string) : messageOf(error)).slice(0, maxDetailLength);
    return { reason: 'tls', detail: `The TLS connection to ${at} failed: ${what}.`, isLasting: true };
  }
  if (closedCodes.has(code)) return temporary('closed', `${at} closed the connection.`);
  return temporary(
    'failed',
    `The connection to ${at} failed: ${messageOf(error).slice(0, maxDetailLength)}.`,
  );
}

export function failureFromStatus({ code, description }: RtmpStatus): RestreamFailure {
  const status = [code, description].filter(text => text !== '').join(': ');
  return {
    reason: 'refused',
    detail: `The destination refuses the stream (${status.slice(0, maxDetailLength)}). Check its address and key.`,
    isLasting: lastingStatuses.test(code),
  };
}
