import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { crossOriginHeaders, preflightHeaders } from './cross-origin.ts';
import { type ErrorBody, errorBodyOf } from './error-body.ts';
import { RateExceeded, rateHeaders, unlimited } from './rate-limiter.ts';

const answerMsAtMost = 5_000;
/** The part of a packet that is searched for a request line. */
const requestLineBytes = 4_096;
/** For who finds no room, or a server that is going down. */
const retryAfterSeconds = 5;

/**
 * Answers a connection whose request never became one: too slow, too large a header, an unknown method, or not HTTP. The body has
 * the same form as all errors.
 *
 * @param isAnswering whether some of an answer to a request of the connection is still to come, so that nothing can come between
 * @param allowedMethods returns the methods of a path; undefined when nothing answers there
 */
export function refuseConnection(
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
    answerWithError(socket, 405, errorBodyOf(new AppError('method-not-allowed'), docsBase), { Allow: allow });
    return;
  }
  const refusal = refusalOf(error, path);
  answerWithError(socket, refusal.status, errorBodyOf(refusal.error, docsBase));
}

/** Returns the path of a request whose method Node's parser does not know; undefined for all other errors. **Source**: RFC 9110 9.1 */
function pathOfUnknownMethod(error: Error & { rawPacket?: Buffer }): string | undefined {
  if (systemCodeOf(error) !== 'HPE_INVALID_METHOD') return undefined;
  const line = error.rawPacket?.toString('latin1', 0, requestLineBytes).split('\r\n', 1)[0] ?? '';
  const [, target] = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\S+) HTTP\/1\.[01]$/.exec(line) ?? [];
  if (target === undefined) return undefined;
  return target.startsWith('/') ? target.split('?', 1)[0] : URL.parse(target)?.pathname;
}

/** The answer to a request line and headers that are longer than Node's parser takes; its status is 431. */
export const headersTooLarge = new AppError('payload-too-large', undefined, {
  details: { detail: 'The request line and headers are too large.' },
});

/** Why a request is refused before anybody looks at what it asks for. */
export type EarlyRefusal = 'no-host' | 'hosts' | 'expectation' | 'tunnel';

const early: Readonly<Record<EarlyRefusal, { status: number; error: AppError }>> = {
  'no-host': { status: 400, error: invalid('The header "Host" is missing.') },
  hosts: { status: 400, error: invalid('The request names more than one host. Send one "Host" header.') },
  expectation: { status: 417, error: invalid('What the header "Expect" asks for cannot be met.') },
  tunnel: { status: 405, error: new AppError('method-not-allowed') },
};
const methods = preflightHeaders['Access-Control-Allow-Methods'] ?? '';

/** Returns the error of an early refusal. */
export function earlyErrorOf(reason: EarlyRefusal): AppError {
  return early[reason].error;
}

/** Answers a request that is HTTP, but none that could be for us. */
export function refuseRequest(
  reason: EarlyRefusal,
  response: ServerResponse | Http2ServerResponse,
  docsBase: string,
): void {
  const { status, error } = early[reason];
  response.statusCode = status;
  const headers = {
    'Content-Type': 'application/json',
    ...crossOriginHeaders,
    ...rateHeaders(unlimited),
    ...(status === 405 ? { Allow: methods } : {}),
  };
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.end(JSON.stringify({ ...errorBodyOf(error, docsBase), status }));
}

/** Answers a request that asked for another protocol and does not get it, and closes the connection. */
export function refuseUpgrade(error: unknown, socket: Duplex, docsBase: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = errorBodyOf(error, docsBase);
  const rate = error instanceof RateExceeded ? error.rate : undefined;
  answerWithError(socket, body.status, body, {
    ...(rate === undefined ? {} : rateHeaders(rate)),
    ...(body.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    ...(body.status === 405 ? { Allow: methods } : {}),
    ...(body.status === 426 ? { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' } : {}),
    ...(body.status === 429 || body.status === 503
      ? { 'Retry-After': String(rate?.retryAfterSeconds ?? retryAfterSeconds) }
      : {}),
  });
}

function answerWithError(
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
    ...Object.entries({ ...crossOriginHeaders, ...rateHeaders(unlimited), ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  // Whoever does not read the answer is not waited for.
  const overdue = setTimeout(() => socket.destroy(), answerMsAtMost);
  socket.once('close', () => clearTimeout(overdue));
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function refusalOf(error: Error, path: string | undefined): { status: number; error: AppError } {
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
