import { type ByteRange, requestedRange } from '../../http/responses/byte-range.ts';
import { acceptsGzip, matchesEtag } from '../../http/responses/content-negotiation.ts';
import { AppError } from '../../shared/errors.ts';
import type { OpenFile } from '../../shared/files/opened-file.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { BodyPart, ResponseBody } from '../../shared/viewer-responses.ts';
import type { DeliveryObserver } from '../delivery-observer.ts';
import { sliceParts } from './body-reader.ts';
import { errorResponse } from './error-response.ts';
import { abortResponse, type Exchange, isClosed, type ViewerReply } from './exchange.ts';
import { FileSender } from './file-sender.ts';
import { readBody } from './open-files.ts';
import { SliceCache } from './slice-cache.ts';
import type { StallGuard } from './stall-guard.ts';

export const scriptType = 'text/javascript; charset=utf-8';
export const playlistType = 'application/vnd.apple.mpegurl';

export const allowedMethods = 'GET, HEAD, OPTIONS';

/** Headers for players on other sites. Age and Date tell hls.js how stale a playlist is. */
const corsHeaders = [
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  'Age, Date, Content-Length, Content-Range, ETag',
] as const;

const preflightHeaders = [
  ...corsHeaders,
  'Access-Control-Allow-Methods',
  allowedMethods,
  'Access-Control-Allow-Headers',
  'range, if-none-match, authorization, content-type, content-range, x-token-session, av-origin-client, av-origin-app, av-origin-sdk, cmcd-request, cmcd-object, cmcd-status, cmcd-session',
  'Access-Control-Max-Age',
  '86400',
  'Cache-Control',
  'max-age=86400',
] as const;

/** Larger bodies are sent in chunks. Cuts off viewers below 210 kbit/s (a chunk in ten seconds). */
const chunkBytes = 256 * 1024;
/** Delay for files in storage that cannot be reached. */
const retryAfterSeconds = 2;

interface CacheHeaders {
  readonly cacheControl: string;
  readonly headers?: readonly string[];
}

interface CachedHeaders {
  readonly cacheControl: string;
  readonly isGzip: boolean;
  readonly fields: readonly string[];
}

interface SelectedBytes {
  readonly status: number;
  readonly headers: readonly string[];
  readonly range: ByteRange | undefined;
  readonly bytes: number;
}

/** Writes responses to viewers: in one write where possible, without copies, with a bounded wait. */
export class ResponseSender {
  readonly #guard: StallGuard;
  readonly #observer: DeliveryObserver;
  readonly #docsBase: () => string;
  readonly #files: FileSender;
  readonly #open: OpenFile;
  readonly #slices: SliceCache;
  /** Headers of whole bodies and texts that many viewers fetch, without those of one viewer. */
  readonly #sharedHeaders = new WeakMap<ResponseBody | CompressedText, CachedHeaders>();

  constructor(open: OpenFile, guard: StallGuard, observer: DeliveryObserver, docsBase: () => string) {
    this.#open = open;
    this.#guard = guard;
    this.#observer = observer;
    this.#docsBase = docsBase;
    this.#slices = new SliceCache(open);
    this.#files = new FileSender(open, guard, observer);
  }

  releaseMemory(): void {
    this.#files.releaseMemory();
    this.#slices.clear();
  }

  sendPreflight(exchange: Exchange): void {
    this.#observer.request(exchange.kind, 204);
    exchange.reply.writeHead(204, [...preflightHeaders]);
    exchange.reply.end();
  }

  sendError(
    exchange: Exchange,
    status: number,
    text: string,
    cacheControl: string,
    headers: readonly string[] = [],
  ): void {
    const { accept } = exchange.request.headers;
    const answer = errorResponse(status, text, accept, this.#docsBase());
    const caching = ['Cache-Control', cacheControl];
    this.sendDocument(exchange, status, answer.body, answer.contentType, [
      ...caching,
      ...answer.headers,
      ...headers,
    ]);
  }

  /** Redirects requests for playlists and images: players follow redirects of media less well. */
  sendRedirect(exchange: Exchange, location: string): void {
    this.sendEmpty(exchange, 307, ['Location', location, 'Cache-Control', 'no-store']);
  }

  sendNotFound(exchange: Exchange, cacheControl: string): void {
    this.sendError(exchange, 404, 'Not found.', cacheControl);
  }

  sendJson(exchange: Exchange, json: string, headers: readonly string[] = []): void {
    this.sendDocument(exchange, 200, Buffer.from(json), 'application/json', [
      ...['Cache-Control', 'no-store'],
      ...headers,
    ]);
  }

  sendEmpty(exchange: Exchange, status: number, headers: readonly string[]): void {
    this.#send(exchange, status, ['Content-Length', '0', ...headers, ...corsHeaders], [], 0);
  }

  sendDocument(
    exchange: Exchange,
    status: number,
    body: Buffer,
    contentType: string,
    headers: readonly string[],
  ): void {
    const all = [
      'Content-Type',
      contentType,
      'Content-Length',
      String(body.length),
      'X-Content-Type-Options',
      'nosniff',
      ...headers,
      ...corsHeaders,
    ];
    this.#send(exchange, status, all, [body], body.length);
  }

  sendText(
    exchange: Exchange,
    text: CompressedText,
    contentType: string,
    cacheControl: string,
    headers: readonly string[] = [],
  ): void {
    const requestHeaders = exchange.request.headers;
    if (matchesEtag(requestHeaders['if-none-match'], text.etag)) {
      this.#send(exchange, 304, textHeaders(text, cacheControl, headers), [], 0);
      return;
    }
    const isGzip = acceptsGzip(requestHeaders['accept-encoding'] as string | undefined);
    const body = isGzip ? text.gzip : text.plain;
    const fields = this.#headersOf(text, { cacheControl, isGzip, isShared: headers.length === 0 }, () => [
      ...textHeaders(text, cacheControl, headers),
      ...['Content-Type', contentType, 'Content-Length', String(body.length)],
      ...(isGzip ? ['Content-Encoding', 'gzip'] : []),
    ]);
    this.#send(exchange, 200, fields, [body], body.length);
  }

  /**
   * Sends a body or the requested range: 200, 206, 304 or 416; 404 when a file is missing, 503 when too many
   * responses are being sent. Settles at the end of the response if parts are in files.
   * @throws Error when a file could not be read
   */
  sendBody(exchange: Exchange, body: ResponseBody, caching: CacheHeaders): Promise<void> | void {
    if (isInMemory(body.parts) || exchange.isHead) return this.#sendSelected(exchange, body, caching);
    const cached = this.#slices.find(body);
    if (cached === undefined) return this.#sendSelected(exchange, body, caching);
    if (cached instanceof Promise) return this.#sendCached(exchange, body, cached, caching);
    return this.#sendSelected(exchange, cached, caching, cached.bytes);
  }

  async #sendCached(
    exchange: Exchange,
    body: ResponseBody,
    reading: Promise<ResponseBody | undefined>,
    caching: CacheHeaders,
  ): Promise<void> {
    const cached = await reading;
    if (isClosed(exchange.reply)) return;
    await this.#sendSelected(exchange, cached ?? body, caching, cached?.bytes);
  }

  #sendSelected(
    exchange: Exchange,
    body: ResponseBody,
    caching: CacheHeaders,
    lentBytes = 0,
  ): Promise<void> | void {
    const selected = this.#selectBytes(exchange, body, caching);
    if (selected === undefined) return;
    const { status, headers, range, bytes } = selected;
    const parts = range === undefined ? body.parts : sliceParts(body.parts, range);
    if (isInMemory(parts)) this.#send(exchange, status, headers, parts, bytes, lentBytes);
    else if (exchange.isHead) this.#send(exchange, status, headers, [], 0);
    else return this.#sendFiles(exchange, parts, status, headers);
  }

  async #sendFiles(
    exchange: Exchange,
    parts: readonly BodyPart[],
    status: number,
    headers: readonly string[],
  ): Promise<void> {
    const outcome = await this.#files.send(exchange, parts, () => {
      this.#observer.request(exchange.kind, status);
      exchange.reply.writeHead(status, headers);
    });
    if (outcome === 'missing') this.sendNotFound(exchange, 'no-store');
    if (outcome === 'busy') {
      this.sendError(
        exchange,
        503,
        'Too many responses are in progress. Try again in a moment.',
        'no-store',
        ['Retry-After', '1'],
      );
    }
  }

  /** Returns undefined when 304 or 416 was sent. */
  #selectBytes(
    exchange: Exchange,
    body: ResponseBody,
    { cacheControl, headers: more = [] }: CacheHeaders,
  ): SelectedBytes | undefined {
    const { bytes, etag } = body;
    const requestHeaders = exchange.request.headers;
    if (requestHeaders['if-none-match'] !== undefined && matchesEtag(requestHeaders['if-none-match'], etag)) {
      const headers = ['Cache-Control', cacheControl, 'ETag', etag, ...more, ...corsHeaders];
      this.#send(exchange, 304, headers, [], 0);
      return undefined;
    }
    const range = exchange.isHead ? 'whole' : requestedRange(requestHeaders, body);
    if (range === 'unsatisfiable') {
      this.sendError(exchange, 416, 'The requested range is outside the file.', 'no-store', [
        'Content-Range',
        `bytes */${bytes}`,
      ]);
      return undefined;
    }
    if (range === 'whole') {
      const headers = this.#headersOf(
        body,
        { cacheControl, isGzip: false, isShared: more.length === 0 },
        () => bodyHeaders(body, bytes, cacheControl, more),
      );
      return { status: 200, headers, range: undefined, bytes };
    }
    const sent = range.end - range.start;
    const headers = bodyHeaders(body, sent, cacheControl, more);
    headers.push('Content-Range', `bytes ${range.start}-${range.end - 1}/${bytes}`);
    return { status: 206, headers, range, bytes: sent };
  }

  #headersOf(
    body: ResponseBody | CompressedText,
    { cacheControl, isGzip, isShared }: { cacheControl: string; isGzip: boolean; isShared: boolean },
    list: () => string[],
  ): readonly string[] {
    if (!isShared) return list();
    const cached = this.#sharedHeaders.get(body);
    if (cached?.cacheControl === cacheControl && cached.isGzip === isGzip) return cached.fields;
    const fields = Object.freeze(list());
    this.#sharedHeaders.set(body, { cacheControl, isGzip, fields });
    return fields;
  }

  /** Returns false for HEAD, which gets nothing more. */
  startEvents(exchange: Exchange): boolean {
    this.#observer.request(exchange.kind, 200);
    // nginx would hold events back until its buffer is full.
    exchange.reply.writeHead(200, [
      'Content-Type',
      'text/event-stream',
      'Cache-Control',
      'no-store',
      'X-Accel-Buffering',
      'no',
      ...corsHeaders,
    ]);
    if (exchange.isHead) exchange.reply.end();
    return !exchange.isHead;
  }

  /** Returns undefined when a file is missing. @throws Error when it cannot be read */
  readBody({ parts, bytes }: ResponseBody): Promise<Buffer | undefined> {
    return readBody(this.#open, parts, bytes);
  }

  sendFailure(exchange: Exchange, error: unknown): void {
    if (exchange.reply.headersSent) abortResponse(exchange.reply);
    else if (error instanceof AppError && error.kind === 'unavailable') this.#sendUnavailable(exchange);
    else
      this.sendError(exchange, 500, 'Something went wrong on the server. Try again in a moment.', 'no-store');
  }

  #sendUnavailable(exchange: Exchange): void {
    const text = 'The media is temporarily unavailable. Try again in a moment.';
    this.sendError(exchange, 503, text, 'no-store', ['Retry-After', String(retryAfterSeconds)]);
  }

  #send(
    exchange: Exchange,
    status: number,
    headers: readonly string[],
    body: readonly Buffer[],
    bytes: number,
    lentBytes = 0,
  ): void {
    const { reply } = exchange;
    this.#observer.request(exchange.kind, status);
    reply.writeHead(status, headers);
    if (exchange.isHead || bytes === 0) {
      reply.end();
      if (!reply.writableFinished) this.#watch(reply, 0);
      return;
    }
    if (bytes > chunkBytes) {
      this.#sendInChunks(exchange, body, lentBytes);
      return;
    }
    this.#observer.bytesOut(bytes, exchange.trafficOwner);
    if (body.length === 1) {
      reply.end(body[0]);
    } else {
      reply.cork();
      for (const buffer of body) reply.write(buffer);
      reply.end();
      reply.uncork();
    }
    if (!reply.writableFinished) this.#watch(reply, lentBytes);
  }

  #watch(reply: ViewerReply, lentBytes: number): () => void {
    return this.#guard.watch(reply, lentBytes === 0 ? undefined : this.#slices.lend(lentBytes));
  }

  #sendInChunks({ reply, trafficOwner }: Exchange, body: readonly Buffer[], lentBytes: number): void {
    const noteProgress = this.#watch(reply, lentBytes);
    let index = 0;
    let offset = 0;
    const sendPiece = () => {
      if (reply.destroyed) return;
      noteProgress();
      let room = chunkBytes;
      let hasRoom = true;
      reply.cork();
      while (room > 0 && index < body.length) {
        const buffer = body[index]!;
        const chunk = buffer.subarray(offset, offset + room);
        room -= chunk.length;
        offset += chunk.length;
        if (offset === buffer.length) {
          index += 1;
          offset = 0;
        }
        hasRoom = reply.write(chunk);
      }
      reply.uncork();
      this.#observer.bytesOut(chunkBytes - room, trafficOwner);
      if (index === body.length) reply.end();
      else if (hasRoom) setImmediate(sendPiece);
      else reply.once('drain', sendPiece);
    };
    sendPiece();
  }
}

function textHeaders({ etag }: CompressedText, cacheControl: string, more: readonly string[]): string[] {
  // Weak, since one tag stands for the plain and the gzipped text.
  const weakEtag = etag.startsWith('W/') ? etag : `W/${etag}`;
  return [
    'Cache-Control',
    cacheControl,
    'ETag',
    weakEtag,
    'Vary',
    'Accept-Encoding',
    ...more,
    ...corsHeaders,
  ];
}

function bodyHeaders(
  { etag, contentType }: ResponseBody,
  bytes: number,
  cacheControl: string,
  more: readonly string[],
): string[] {
  return [
    'Content-Type',
    contentType,
    'Content-Length',
    String(bytes),
    'Cache-Control',
    cacheControl,
    'ETag',
    etag,
    'Accept-Ranges',
    'bytes',
    ...more,
    ...corsHeaders,
  ];
}

function isInMemory(parts: readonly BodyPart[]): parts is readonly Buffer[] {
  return parts.every(part => Buffer.isBuffer(part));
}
