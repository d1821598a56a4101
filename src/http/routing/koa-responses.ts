import type { Context } from 'koa';
import { AppError } from '../../shared/errors.ts';
import { respondThenDiscard, unreadBodyOf } from '../bodies/unread-body.ts';
import { matchesEtag } from '../responses/content-negotiation.ts';
import { preflightHeaders } from '../responses/cors-headers.ts';
import { EncodedText } from '../responses/encoded-text.ts';
import { toErrorBody } from '../responses/error-body.ts';
import { RateExceeded, type RateState, rateHeaders } from './rate-limiter.ts';
import type { Route } from './route.ts';
import type { RouteTable } from './route-table.ts';

/** Length above which texts are sent as bytes: ASCII is copied faster than encoded. */
const maxStringBodyLength = 4_096;
const encodedTextSeconds = 300;

/** `ctx.state` of Koa. */
export interface RequestState {
  route: string;
  requestId: string;
  rate: RateState;
}

export function setRate(ctx: Context): void {
  ctx.set(rateHeaders((ctx.state as RequestState).rate));
}

export function sendSuccess(ctx: Context, route: Route, status: number, answer: unknown): void {
  setRate(ctx);
  const { schema, contentType } = route.success;
  if (answer instanceof EncodedText) sendEncoded(ctx, contentType ?? 'text/plain', answer);
  else if (contentType !== undefined) send(ctx, status, contentType, String(answer));
  else if (schema !== undefined) send(ctx, status, 'application/json', JSON.stringify(answer));
  else sendNothing(ctx, status);
}

function send(ctx: Context, status: number, contentType: string, text: string): void {
  ctx.status = status;
  // Set verbatim: clients compare the content type of JSON with exactly this text.
  ctx.set('Content-Type', contentType);
  ctx.body = text.length > maxStringBodyLength ? bytesOf(text) : text;
}

function sendEncoded(ctx: Context, contentType: string, text: EncodedText): void {
  ctx.set({
    'Cache-Control': `public, max-age=${encodedTextSeconds}`,
    ETag: text.etag,
    Vary: 'Accept-Encoding',
  });
  if (matchesEtag(ctx.get('If-None-Match') || undefined, text.etag)) {
    sendNothing(ctx, 304);
    return;
  }
  const { body, encoding } = text.bodyFor(ctx.get('Accept-Encoding') || undefined);
  ctx.status = 200;
  ctx.set('Content-Type', contentType);
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding);
  ctx.body = body;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, Buffer.byteLength(text) === text.length ? 'latin1' : 'utf8');
}

function sendNothing(ctx: Context, status: number): void {
  ctx.body = null;
  ctx.status = status;
}

export function sendPreflight(ctx: Context, table: RouteTable): void {
  setRate(ctx);
  ctx.set(preflightHeaders);
  const methods = table.methodsOf(ctx.path);
  if (methods.length > 0) ctx.set('Allow', methods.join(', '));
  sendNothing(ctx, 204);
}

export function sendError(ctx: Context, error: unknown, docsBase: string): void {
  if (ctx.headerSent) return;
  if (error instanceof RateExceeded) {
    (ctx.state as RequestState).rate = error.rate;
    ctx.set('Retry-After', String(error.rate.retryAfterSeconds));
  }
  if (error instanceof AppError && error.details.retryAfterSeconds !== undefined) {
    ctx.set('Retry-After', String(error.details.retryAfterSeconds));
  }
  setRate(ctx);
  const body = toErrorBody(error, docsBase);
  if (body.status === 401) ctx.set('WWW-Authenticate', 'Bearer');
  // HTTP/2 has no upgrades and refuses their headers.
  if (body.status === 426 && ctx.req.httpVersionMajor === 1) {
    ctx.set({
      // Repeats `close`, which setting the header would override.
      Connection: ctx.res.shouldKeepAlive ? 'Upgrade' : 'close, Upgrade',
      Upgrade: 'websocket',
    });
  }
  const text = JSON.stringify(body);
  const unread = unreadBodyOf(ctx.req);
  // The rest of a slow body is not awaited.
  const isTooSlow = body.status === 408;
  if ((unread === 'long' || isTooSlow) && ctx.req.httpVersionMajor === 1) ctx.set('Connection', 'close');
  send(ctx, body.status, 'application/json', text);
  if (unread === 'none' || isTooSlow) return;
  ctx.body = respondThenDiscard(text, ctx.req);
  ctx.length = Buffer.byteLength(text);
}
