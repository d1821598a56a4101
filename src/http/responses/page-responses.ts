import type { ServerResponse } from 'node:http';
import { AppError } from '../../shared/errors.ts';
import type { HttpRequest } from '../listener/http-listener.ts';
import type { BrowserFile } from '../pages/browser-text.ts';
import { acceptsGzip, matchesEtag } from './content-negotiation.ts';
import { toErrorBody } from './error-body.ts';

const yearSeconds = 31_536_000;

/** What `Cache-Control` says of a file whose name changes with its content. */
export const immutableCacheControl = `public, max-age=${yearSeconds}, immutable`;

/** The methods of a page, for `Allow`. */
export const pageMethods = 'GET, HEAD, OPTIONS';

/**
 * Answers whoever wants something else of a page than to read it.
 *
 * @returns false for GET and HEAD; then nothing has been done.
 */
export function answerNonGetMethods(
  request: HttpRequest,
  response: ServerResponse,
  docsBase: () => string,
): boolean {
  if (request.method === 'GET' || request.method === 'HEAD') return false;
  if (request.method === 'OPTIONS') response.writeHead(204, { Allow: pageMethods }).end();
  else sendError(response, new AppError('method-not-allowed'), docsBase(), { Allow: pageMethods });
  return true;
}

/** Answers with a text, as it is or gzipped, or says that the client has it already. */
export function sendText(
  request: HttpRequest,
  response: ServerResponse,
  { text, contentType }: BrowserFile,
  headers: Readonly<Record<string, string>>,
): void {
  const sent: Record<string, string> = {
    Vary: 'Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    ETag: text.etag,
  };
  if (matchesEtag(request.headers['if-none-match'], text.etag)) {
    response.writeHead(304, sent).end();
    return;
  }
  const isGzip = acceptsGzip(request.headers['accept-encoding'] as string | undefined);
  const body = isGzip ? text.gzip : text.plain;
  sent['Content-Type'] = contentType;
  sent['Content-Length'] = String(body.length);
  if (isGzip) sent['Content-Encoding'] = 'gzip';
  response.writeHead(200, sent);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Answers with an error's body, beside the API's own pipeline. */
export function sendError(
  response: ServerResponse,
  error: unknown,
  docsBase: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = toErrorBody(error, docsBase);
  const text = JSON.stringify(body);
  response.writeHead(body.status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}
