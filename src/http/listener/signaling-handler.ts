import type { IncomingMessage } from 'node:http';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  maxOfferBytes,
  type SignalingEndpoint,
  type SignalingRequest,
  type SignalingResponse,
} from '../../shared/network/signaling.ts';
import { readBytes } from '../bodies/json-body.ts';
import { respondThenDiscard, unreadBodyOf } from '../bodies/unread-body.ts';
import { corsHeaders } from '../responses/cors-headers.ts';
import { toErrorBody } from '../responses/error-body.ts';
import type { AddressOf } from './client-address.ts';
import type { HttpRequest, HttpResponse } from './http-listener.ts';

interface SignalingHandlerOptions {
  readonly addressOf: AddressOf;
  readonly docsBase: () => string;
  readonly bodyTimeoutMs: number;
  readonly log: Logger;
}

/** Pages of other origins may publish and play: the stream key or token is what counts. */
const headersForPages = {
  ...corsHeaders,
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match',
  'Access-Control-Expose-Headers': 'Location, ETag, Accept-Patch, Link, Retry-After, Millrace-Rewind',
  'Access-Control-Max-Age': '86400',
};

const maxReasonChars = 256;

/** Reads the requests of publishers and viewers that are neither media nor of the API, and writes the responses. */
export class SignalingHandler {
  readonly #endpoints: readonly SignalingEndpoint[];
  readonly #options: SignalingHandlerOptions;

  constructor(endpoints: readonly SignalingEndpoint[], options: SignalingHandlerOptions) {
    this.#endpoints = endpoints;
    this.#options = options;
  }

  allowedMethods(path: string): string | undefined {
    return this.#find(path)?.methods;
  }

  /** Returns false for other paths. */
  handle(request: HttpRequest, response: HttpResponse): boolean {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const endpoint = this.#find(path);
    if (endpoint === undefined) return false;
    const closing = new AbortController();
    response.once('close', () => closing.abort());
    const target = { path, query, signal: closing.signal };
    void this.#respond(endpoint, request as IncomingMessage, target).then(answer =>
      this.#send(request, response, {
        ...answer,
        headers: { 'Access-Control-Allow-Methods': endpoint.methods, ...answer.headers },
      }),
    );
    return true;
  }

  #find(path: string): SignalingEndpoint | undefined {
    return this.#endpoints.find(endpoint => endpoint.hasPath(path));
  }

  async #respond(
    endpoint: SignalingEndpoint,
    message: IncomingMessage,
    target: Pick<SignalingRequest, 'path' | 'query' | 'signal'>,
  ): Promise<SignalingResponse> {
    const { headers, method = '' } = message;
    try {
      const hasBody = method === 'POST' || method === 'PATCH';
      const limits = {
        maxBytes: endpoint.maxBodyBytes ?? maxOfferBytes,
        timeoutMs: this.#options.bodyTimeoutMs,
      };
      const body = hasBody ? await readBytes(message, limits) : Buffer.alloc(0);
      return await endpoint.handle({
        ...target,
        method,
        message,
        body: body.toString('utf8'),
        authorization: headers.authorization,
        contentType: (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase(),
        ifMatch: headers['if-match'],
        userAgent: headers['user-agent'] ?? '',
        host: hostOf(message),
        remoteAddress: this.#options.addressOf(message),
      });
    } catch (error) {
      return this.#errorResponse(error, endpoint.methods);
    }
  }

  #errorResponse(error: unknown, methods: string): SignalingResponse {
    const { log, docsBase } = this.#options;
    // Never the path, which may hold the stream key.
    if (!(error instanceof AppError)) log.error('signaling-failed', { error });
    const body = toErrorBody(error, docsBase());
    const retryAfter = error instanceof AppError ? error.details.retryAfterSeconds : undefined;
    return {
      status: body.status,
      headers: {
        'Content-Type': 'application/problem+json',
        ...(body.status === 405 ? { Allow: methods } : {}),
        ...(body.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
        ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      },
      body: JSON.stringify(body),
      reason: body.detail ?? body.title,
    };
  }

  #send(request: HttpRequest, response: HttpResponse, answer: SignalingResponse): void {
    const { status, headers, body, reason } = answer;
    response.statusCode = status;
    // HTTP/2 has none.
    if (reason !== undefined && request.httpVersionMajor === 1) response.statusMessage = reasonPhrase(reason);
    const all = { 'Cache-Control': 'no-store', ...headersForPages, ...headers };
    for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
    const incoming = request as IncomingMessage;
    if (unreadBodyOf(incoming) !== 'long') response.end(body);
    else respondThenDiscard(body, incoming).pipe(response);
  }
}

/** Encoders log it with the status, and not the body. RFC 9112, 4. */
function reasonPhrase(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, maxReasonChars);
}

/** Host name without the port. */
function hostOf({ headers }: IncomingMessage): string {
  const host = String(headers[':authority'] ?? headers.host ?? '');
  return host.replace(/:\d+$/, '');
}
