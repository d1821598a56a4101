import type { ServerResponse } from 'node:http';
import { AppError } from '../../shared/errors.ts';
import type { HttpRequest } from '../listener/http-listener.ts';
import { acceptsGzip, matchesEtag } from './content-negotiation.ts';
import { toErrorBody } from './error-body.ts';

const yearSeconds = 31_536_000;

export const immutableCacheControl = `public, max-age=${yearSeconds}, immutable`;

export const pageMethods = 'GET, HEAD, OPTIONS';

/** Returns false for GET and HEAD; responds to other methods. */
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

interface SentText {
  /** `gzip` is absent for what is compressed itself. */
  readonly text: { readonly plain: Buffer; readonly gzip?: Buffer; readonly etag: string };
  readonly contentType: string;
}

export function sendText(
  request: HttpRequest,
  response: ServerResponse,
  { text, contentType }: SentText,
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
  const isGzip =
    text.gzip !== undefined && acceptsGzip(request.headers['accept-encoding'] as string | undefined);
  const body = (isGzip ? text.gzip : undefined) ?? text.plain;
  sent['Content-Type'] = contentType;
  sent['Content-Length'] = String(body.length);
  if (isGzip) sent['Content-Encoding'] = 'gzip';
  response.writeHead(200, sent);
  response.end(request.method === 'HEAD' ? undefined : body);
}

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
