import type { IncomingMessage } from 'node:http';
import { readBytes } from '../http/bodies/json-body.ts';
import { respondThenDiscard, unreadBodyOf } from '../http/bodies/unread-body.ts';
import type { AddressOf } from '../http/listener/client-address.ts';
import type { HttpRequest, HttpResponse } from '../http/listener/http-listener.ts';
import { corsHeaders } from '../http/responses/cors-headers.ts';
import { toErrorBody } from '../http/responses/error-body.ts';
import {
  isWhipPath,
  maxOfferBytes,
  type WhipEndpoint,
  type WhipResponse,
} from '../ingest/whip/whip-endpoint.ts';
import { AppError } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';

interface WhipHandlerOptions {
  readonly addressOf: AddressOf;
  readonly docsBase: () => string;
  readonly bodyTimeoutMs: number;
  readonly log: Logger;
}

const allowedMethods = 'POST, PATCH, DELETE, OPTIONS';
/** Pages of other origins may publish: the stream key is what counts, and no cookie is read. */
const headersForPages = {
  ...corsHeaders,
  'Access-Control-Allow-Methods': allowedMethods,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match',
  'Access-Control-Expose-Headers': 'Location, ETag, Accept-Patch, Link, Retry-After',
  'Access-Control-Max-Age': '86400',
};

/** Reads the requests of the WHIP endpoint, and writes its responses. */
export class WhipHandler {
  readonly #endpoint: WhipEndpoint;
  readonly #options: WhipHandlerOptions;

  constructor(endpoint: WhipEndpoint, options: WhipHandlerOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
  }

  allowedMethods(path: string): string | undefined {
    return isWhipPath(path) ? allowedMethods : undefined;
  }

  /** Returns false for other paths. */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    const [path = ''] = (request.url ?? '').split('?');
    if (!isWhipPath(path)) return false;
    void this.#respond(request as IncomingMessage, path).then(answer =>
      this.#send(request, response, answer),
    );
    return true;
  }

  async #respond(request: IncomingMessage, path: string): Promise<WhipResponse> {
    const { headers, method = '' } = request;
    try {
      const hasBody = method === 'POST' || method === 'PATCH';
      const limits = { maxBytes: maxOfferBytes, timeoutMs: this.#options.bodyTimeoutMs };
      const body = hasBody ? await readBytes(request, limits) : Buffer.alloc(0);
      return await this.#endpoint.handle({
        ...{ method, path, body: body.toString('utf8'), authorization: headers.authorization },
        contentType: (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase(),
        ifMatch: headers['if-match'],
        userAgent: headers['user-agent'] ?? '',
        host: hostOf(request),
        remoteAddress: this.#options.addressOf(request),
      });
    } catch (error) {
      return this.#errorResponse(error);
    }
  }

  #errorResponse(error: unknown): WhipResponse {
    const { log, docsBase } = this.#options;
    // Never the path, which may hold the stream key.
    if (!(error instanceof AppError)) log.error('whip-failed', { error });
    const body = toErrorBody(error, docsBase());
    const retryAfter = error instanceof AppError ? error.details.retryAfterSeconds : undefined;
    return {
      status: body.status,
      headers: {
        'Content-Type': 'application/problem+json',
        ...(body.status === 405 ? { Allow: allowedMethods } : {}),
        ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      },
      body: JSON.stringify(body),
    };
  }

  #send(request: HttpRequest, response: HttpResponse, { status, headers, body }: WhipResponse): void {
    response.statusCode = status;
    const all = { 'Cache-Control': 'no-store', ...headersForPages, ...headers };
    for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
    const incoming = request as IncomingMessage;
    if (unreadBodyOf(incoming) !== 'long') response.end(body);
    else respondThenDiscard(body, incoming).pipe(response);
  }
}

/** Without the port. */
function hostOf({ headers }: IncomingMessage): string {
  const host = String(headers[':authority'] ?? headers.host ?? '');
  return host.replace(/:\d+$/, '');
}
