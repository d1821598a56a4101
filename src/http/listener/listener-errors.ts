import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import { AppError, systemCodeOf } from '../../shared/errors.ts';
import { corsHeaders, preflightHeaders } from '../responses/cors-headers.ts';
import { type ErrorBody, toErrorBody } from '../responses/error-body.ts';
import { RateExceeded, rateHeaders, unlimited } from '../routing/rate-limiter.ts';

const maxResponseMs = 5_000;
const requestLineBytes = 4_096;
const maxMethodBytes = 32;
const retryAfterSeconds = 5;

/** @param isAnswering a response on the connection is in progress, so nothing else can be sent */
export function rejectConnection(
  error: Error,
  socket: Duplex,
  {
    docsBase,
    isAnswering,
    allowedMethods,
  }: {
    docsBase: string;
    isAnswering: boolean;
    allowedMethods?: ((path: string) => string | undefined) | undefined;
  },
): void {
  if (!socket.writable || isAnswering || systemCodeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const path = allowedMethods && pathOfUnknownMethod(error);
  const allow = path === undefined ? undefined : allowedMethods?.(path);
  if (allow !== undefined) {
    sendError(socket, 405, toErrorBody(new AppError('method-not-allowed'), docsBase), { Allow: allow });
    return;
  }
  const refusal = connectionErrorOf(error, path);
  sendError(socket, refusal.status, toErrorBody(refusal.error, docsBase));
}

/** Returns the path of a request whose method Node's parser does not know (RFC 9110 9.1). */
function pathOfUnknownMethod(
  error: Error & { rawPacket?: Buffer; bytesParsed?: number },
): string | undefined {
  const { rawPacket: bytes, bytesParsed = 0 } = error;
  if (systemCodeOf(error) !== 'HPE_INVALID_METHOD' || bytes === undefined) return undefined;
  // Requests before it may be in the same packet, and their bodies need not end with a line.
  const before = bytes.toString('latin1', Math.max(0, bytesParsed - maxMethodBytes), bytesParsed);
  const start = bytesParsed - before.length + before.search(/[!#$%&'*+.^_`|~0-9A-Za-z-]*$/);
  const line = bytes.toString('latin1', start, start + requestLineBytes).split('\r\n', 1)[0] ?? '';
  const [, target] = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]$/.exec(line) ?? [];
  if (target === undefined) return undefined;
  return target.startsWith('/') ? target.split('?', 1)[0] : URL.parse(target)?.pathname;
}

/** The error of a request line and headers beyond the limit; its status is 431. */
export const headersTooLarge = new AppError('payload-too-large', undefined, {
  details: { detail: 'The request line and headers are too large.' },
});

/** Reason to refuse a request before routing. */
export type EarlyError = 'no-host' | 'hosts' | 'expectation' | 'tunnel' | 'busy';

const earlyErrors: Readonly<Record<EarlyError, { status: number; error: AppError }>> = {
  'no-host': { status: 400, error: invalid('The header "Host" is missing.') },
  hosts: { status: 400, error: invalid('The request names more than one host. Send one "Host" header.') },
  expectation: {
    status: 417,
    error: invalid('The value of the "Expect" header is not supported. Leave the header out.'),
  },
  tunnel: { status: 405, error: new AppError('method-not-allowed') },
  busy: { status: 503, error: new AppError('server-busy') },
};
const methods = preflightHeaders['Access-Control-Allow-Methods'] ?? '';

export function earlyErrorOf(reason: EarlyError): AppError {
  return earlyErrors[reason].error;
}

/** Responds to valid HTTP that no handler can serve. */
export function rejectRequest(
  reason: EarlyError,
  response: ServerResponse | Http2ServerResponse,
  docsBase: string,
): void {
  const { status, error } = earlyErrors[reason];
  response.statusCode = status;
  const headers = {
    'Content-Type': 'application/json',
    ...corsHeaders,
    ...rateHeaders(unlimited),
    ...(status === 405 ? { Allow: methods } : {}),
    ...(status === 503 ? { 'Retry-After': String(retryAfterSeconds) } : {}),
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(JSON.stringify({ ...toErrorBody(error, docsBase), status }));
}

/** Responds to a refused upgrade and closes the connection. */
export function rejectUpgrade(error: unknown, socket: Duplex, docsBase: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = toErrorBody(error, docsBase);
  const rate = error instanceof RateExceeded ? error.rate : undefined;
  sendError(socket, body.status, body, {
    ...(rate === undefined ? {} : rateHeaders(rate)),
    ...(body.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(body.status === 405 ? { Allow: methods } : {}),
    ...(body.status === 426 ? { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' } : {}),
    ...(body.status === 429 || body.status === 503
      ? { 'Retry-After': String(rate?.retryAfterSeconds ?? retryAfterSeconds) }
      : {}),
  });
}

function sendError(
  socket: Duplex,
  status: number,
  error: ErrorBody,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify({ ...error, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Connection: ${headers.Upgrade === undefined ? 'close' : 'close, Upgrade'}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries({ ...corsHeaders, ...rateHeaders(unlimited), ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  // Bounds the wait for clients that do not read the response.
  const overdue = setTimeout(() => socket.destroy(), maxResponseMs);
  socket.once('close', () => clearTimeout(overdue));
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function connectionErrorOf(error: Error, path: string | undefined): { status: number; error: AppError } {
  if (path !== undefined) return { status: 404, error: new AppError('unrecognized-request-url') };
  switch (systemCodeOf(error)) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, error: new AppError('request-timeout') };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, error: headersTooLarge };
    default:
      return { status: 400, error: invalid('The request is not valid HTTP.') };
  }
}

function invalid(detail: string): AppError {
  return new AppError('invalid-payload', undefined, { details: { detail } });
}
