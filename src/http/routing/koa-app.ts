import Koa from 'koa';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { toMachineError } from '../../shared/files/disk-error.ts';
import { randomBase62 } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { corsHeaders } from '../responses/cors-headers.ts';
import { type RequestState, sendError, sendPreflight, setRate } from './koa-responses.ts';
import { RouteRequests, type RouteRequestsOptions } from './route-requests.ts';
import { RouteTable } from './route-table.ts';

/** Receives responses for metrics, with a bounded set of labels. */
export interface HttpObserver {
  /** `route` is the pattern (`/live-streams/{liveStreamId}`) or `unmatched`. */
  observeRequest(request: { method: string; route: string; status: number; durationMs: number }): void;
}

interface KoaAppOptions extends RouteRequestsOptions {
  /** Base of the `type` of errors, without a slash at its end. A function, since ports are known late. */
  readonly docsBase: () => string;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly observer?: HttpObserver;
}

/** Responses hold stream keys and private tokens, so nothing may cache them. */
const fixedHeaders = Object.entries({
  ...corsHeaders,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
});

/**
 * Creates the API as a Koa application. A request passes route (404, 405), credentials (401, 403), rate limit
 * (429), body (400, 413), resource (404), validation (400), handler. A file is received only after its
 * resource was found.
 */
export function createKoaApp(options: KoaAppOptions): Koa & { methodsOf(path: string): string[] } {
  const { docsBase, limiter, log, observer } = options;
  const clock = options.clock ?? systemClock;
  const idPrefix = randomBase62(6);
  let requests = 0;
  const served = new RouteRequests(options);
  const table = new RouteTable(options.routes, (ctx, route, params) => served.serve(ctx, route, params));

  const koa = new Koa();
  koa.on('error', error => log.debug('answer-broken', { error: messageOf(error) }));
  koa.use(async (ctx, next) => {
    const beganAtMs = clock.monotonicMs();
    requests += 1;
    const state = ctx.state as RequestState;
    state.route = 'unmatched';
    state.requestId = `${idPrefix}-${requests.toString(36)}`;
    state.rate = limiter.unusedState(ctx.method === 'GET' || ctx.method === 'HEAD' ? 'reads' : 'writes');
    for (const [name, value] of fixedHeaders) ctx.res.setHeader(name, value);
    ctx.res.setHeader('X-Request-Id', state.requestId);
    let code: string | undefined;
    try {
      if (ctx.method === 'OPTIONS') sendPreflight(ctx, table);
      else await next();
    } catch (caught) {
      const error = toMachineError(caught);
      code = error instanceof AppError ? error.code : 'server-error';
      logFailure(log, error, state);
      sendError(ctx, error, docsBase());
    }
    const durationMs = clock.monotonicMs() - beganAtMs;
    const { route, requestId } = state;
    observer?.observeRequest({ method: ctx.method, route, status: ctx.status, durationMs });
    log.debug('answered', {
      requestId,
      method: ctx.method,
      route,
      status: ctx.status,
      ms: Math.round(durationMs * 10) / 10,
      code,
    });
  });
  koa.use(table.dispatch);
  koa.use(ctx => {
    const { error, allow } = table.errorFor(ctx.path);
    setRate(ctx);
    if (allow !== undefined) ctx.set('Allow', allow);
    throw error;
  });
  return Object.assign(koa, { methodsOf: (path: string) => table.methodsOf(path) });
}

function logFailure(log: Logger, error: unknown, state: RequestState): void {
  if (error instanceof AppError && error.logLevel === 'info') return;
  const level = error instanceof AppError ? error.logLevel : 'error';
  log[level]('request-failed', { requestId: state.requestId, route: state.route, error });
}
