import type { Duplex } from 'node:stream';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { crossOriginHeaders } from './cross-origin.ts';
import { errorBodyOf } from './error-body.ts';
import { rateHeaders, unlimited } from './rate-limiter.ts';

/**
 * Answers a connection whose request never became one: too slow, too large a header, or not HTTP. The body has the same form
 * as all errors.
 */
export function refuseConnection(error: Error, socket: Duplex, docsBase: string): void {
  const hasBegunToAnswer = (socket as { bytesWritten?: number }).bytesWritten ?? 0;
  if (!socket.writable || hasBegunToAnswer > 0 || systemCodeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error);
  const body = JSON.stringify({ ...errorBodyOf(refusal.error, docsBase), status: refusal.status });
  const head = [
    `HTTP/1.1 ${refusal.status} ${refusal.phrase}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries({ ...crossOriginHeaders, ...rateHeaders(unlimited) }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function refusalOf(error: Error): { status: number; phrase: string; error: AppError } {
  switch (systemCodeOf(error)) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, phrase: 'Request Timeout', error: new AppError('request-timeout') };
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        phrase: 'Request Header Fields Too Large',
        error: new AppError('payload-too-large', undefined, {
          details: { detail: 'The request line and headers are too large.' },
        }),
      };
    default:
      return {
        status: 400,
        phrase: 'Bad Request',
        error: new AppError('invalid-payload', undefined, {
          details: { detail: 'The request is not valid HTTP.' },
        }),
      };
  }
}
