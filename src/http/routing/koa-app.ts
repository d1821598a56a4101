import type { IncomingMessage } from 'node:http';
import Koa, { type Context } from 'koa';
import * as z from 'zod';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import { toMachineError } from '../../shared/files/disk-error.ts';
import { randomBase62 } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { discardFile, prepareForFiles, receiveFile, toLostUpload } from '../bodies/file-body.ts';
import { readJsonBody } from '../bodies/json-body.ts';
import { respondThenDiscard, unreadBodyOf } from '../bodies/unread-body.ts';
import { matchesEtag } from '../responses/content-negotiation.ts';
import { corsHeaders, preflightHeaders } from '../responses/cors-headers.ts';
import { EncodedText } from '../responses/encoded-text.ts';
import { toErrorBody } from '../responses/error-body.ts';
import type {
  AnyCaller,
  Authenticate,
  AuthenticateSession,
  AuthenticateUpload,
  FollowAccess,
  SetHeader,
} from './caller.ts';
import { FileAnswers } from './file-answer.ts';
import { fileLinkRequest } from './file-link.ts';
import { queryReader } from './query-parameters.ts';
import {
  type RatedProject,
  RateExceeded,
  type RateLimiter,
  type RateState,
  rateHeaders,
} from './rate-limiter.ts';
import {
  type FileAdmission,
  type FileAnswer,
  isJsonBodyRequired,
  type Route,
  type UploadedFile,
} from './route.ts';
import { RouteTable } from './route-table.ts';
import { requireScope, type Scope } from './scope.ts';
import { followCredentials } from './valid-credentials.ts';
import { type InputPart, validate } from './validation.ts';

/** Receives responses for metrics, with a bounded set of labels. */
export interface HttpObserver {
  /** `route` is the pattern (`/live-streams/{liveStreamId}`) or `unmatched`. */
  observeRequest(request: { method: string; route: string; status: number; durationMs: number }): void;
}

/** A request that a route has served, before its response. */
export interface ServedChange {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  readonly found: unknown;
  readonly caller: AnyCaller;
  /** Attributes of a JSON body. */
  readonly attributes: unknown;
  readonly answer: unknown;
  readonly incoming: IncomingMessage;
}

interface KoaAppOptions {
  readonly routes: readonly Route[];
  readonly authenticate: Authenticate;
  readonly authenticateUpload?: AuthenticateUpload;
  readonly authenticateSession?: AuthenticateSession;
  /** Follows access of requests that send a file. */
  readonly followAccess?: FollowAccess;
  /** Waited for before the response to a request that is not a GET and has credentials. */
  readonly recordChange: (change: ServedChange) => Promise<void>;
  /** Commits what `work` writes, or nothing when it throws. May run it again. */
  readonly inTransaction: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly limiter: RateLimiter;
  /** Base of the `type` of errors, without a slash at its end. A function, since ports are known late. */
  readonly docsBase: () => string;
  readonly uploadDir: string;
  /** @throws AppError `disk-full` when so many more bytes would leave too little space */
  readonly requireFreeSpace?: (bytes: number) => Promise<void>;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly observer?: HttpObserver;
  readonly bodyTimeoutMs?: number;
  /** `bodyTimeoutMs` unless given. */
  readonly uploadIdleTimeoutMs?: number;
}

const maxJsonBytes = 1_024 * 1_024;
/** Anybody can send these bodies, which hold only a key or a token. */
const maxUnauthenticatedJsonBytes = 16 * 1_024;
const maxJsonDepth = 32;
const defaultBodyTimeoutMs = 20_000;
/** Length above which texts are sent as bytes: ASCII is copied faster than encoded. */
const maxStringBodyLength = 4_096;
const encodedTextSeconds = 300;
const noQuery = z.strictObject({});
/** Responses hold stream keys and private tokens, so nothing may cache them. */
const fixedHeaders = Object.entries({
  ...corsHeaders,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
});

interface AppState {
  route: string;
  requestId: string;
  rate: RateState;
}

/**
 * Creates the API as a Koa application. A request passes route (404, 405), credentials (401, 403), rate limit
 * (429), body (400, 413), resource (404), validation (400), handler. A file is received only after its
 * resource was found.
 */
export function createKoaApp(options: KoaAppOptions): Koa & { methodsOf(path: string): string[] } {
  const { authenticate, docsBase, limiter, log, observer, followAccess } = options;
  const clock = options.clock ?? systemClock;
  const bodyTimeoutMs = options.bodyTimeoutMs ?? defaultBodyTimeoutMs;
  const fileBodies = {
    uploadDir: options.uploadDir,
    idleTimeoutMs: options.uploadIdleTimeoutMs ?? bodyTimeoutMs,
    requireFreeSpace: options.requireFreeSpace ?? (() => Promise.resolve()),
  };
  const fileAnswers = new FileAnswers({ idleTimeoutMs: fileBodies.idleTimeoutMs });
  const idPrefix = randomBase62(6);
  const queryReaders = new Map(options.routes.map(route => [route, queryReader(route.query ?? noQuery)]));
  let requests = 0;

  const serve = async (ctx: Context, route: Route, params: Record<string, string>): Promise<void> => {
    const state = ctx.state as AppState;
    state.route = route.path;
    state.rate = limiter.unusedState(route.rateClass);
    const setHeader: SetHeader = (name, value) => ctx.set(name, value);
    if (route.body?.kind === 'file' || route.precedesFile === true) prepareForFiles();
    const caller = await callerOf(ctx, route, setHeader);
    if (caller !== undefined) state.rate = limiter.require(rateLimitOwner(caller), route.rateClass);
    const { method, body: expected } = route;
    const json =
      expected?.kind === 'json'
        ? await readJsonBody(ctx.req, {
            maxBytes: route.auth === 'none' ? maxUnauthenticatedJsonBytes : maxJsonBytes,
            maxDepth: maxJsonDepth,
            timeoutMs: bodyTimeoutMs,
            isRequired: () => isJsonBodyRequired(method, expected.schema),
          })
        : undefined;
    // No id contains it, and PostgreSQL accepts no text that does.
    if (Object.values(params).some(value => value.includes('\0'))) throw notFound(route);
    const found = await route.find?.({ params, caller });
    if (route.find !== undefined && found === undefined) throw notFound(route);
    const querySchema = route.query ?? noQuery;
    const parts: InputPart[] = [
      { source: 'query', schema: querySchema, input: queryReaders.get(route)!(ctx.querystring) },
    ];
    if (route.body?.kind === 'json') parts.push({ source: 'body', schema: route.body.schema, input: json });
    const [query, attributes] = validate(parts);
    let body = attributes;
    let file: UploadedFile | undefined;
    let admission: FileAdmission | undefined;
    try {
      if (route.body?.kind === 'file') {
        admission = (await route.admitFile?.({ params, found, caller, incoming: ctx.req })) ?? route.body;
        file = await receive(ctx, route, caller, admission);
        body = file;
      }
      const { path, querystring: queryText, req: incoming } = ctx;
      const request = { params, query, body, found, caller, path, queryText, incoming, setHeader };
      const serve = async () => {
        const answer = await route.handle(request);
        if (method !== 'GET' && caller !== undefined) {
          await options.recordChange({ route, params, found, caller, attributes, answer, incoming });
        }
        return answer;
      };
      const { isAtomic } = route;
      const answer = await whileAuthorized(ctx, route, caller, () =>
        isAtomic === true || isAtomic?.(request) ? options.inTransaction(serve) : serve(),
      );
      const { status } = route.otherSuccess?.when(request) ? route.otherSuccess : route.success;
      if (route.success.fileTypes === undefined) {
        sendSuccess(ctx, route, status, answer);
      } else {
        setRate(ctx);
        await fileAnswers.send(ctx, status, answer as FileAnswer);
      }
    } catch (error) {
      throw toLostUpload(error, fileBodies.uploadDir);
    } finally {
      await Promise.all([admission?.onFinished?.(), file && discardFile(file)]);
    }
  };

  /** A failure of a request that is not authorized any more, because its project was deleted meanwhile, is a refusal. */
  const whileAuthorized = async <Result>(
    ctx: Context,
    route: Route,
    caller: AnyCaller | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError)) requireSameProject(caller, await callerOf(ctx, route, () => {}));
      throw error;
    }
  };

  const receive = async (
    ctx: Context,
    route: Route,
    caller: AnyCaller | undefined,
    admission: FileAdmission,
  ): Promise<UploadedFile> => {
    const knownFields = route.body?.kind === 'file' ? Object.keys(route.body.fields ?? {}) : [];
    const check = async () => requireSameProject(caller, await callerOf(ctx, route, () => {}));
    const credentials = followAccess && followCredentials(caller, check, followAccess);
    try {
      return await receiveFile(ctx, admission, knownFields, { ...fileBodies, signal: credentials?.signal });
    } finally {
      credentials?.release();
    }
  };

  const callerOf = async (
    ctx: Context,
    route: Route,
    setHeader: SetHeader,
  ): Promise<AnyCaller | undefined> => {
    if (route.auth === 'key') {
      const isLink = route.success.fileTypes !== undefined;
      const request = isLink ? fileLinkRequest(ctx.req, ctx.querystring) : ctx.req;
      return withScope(route, await authenticate(request, setHeader));
    }
    if (route.auth === 'none') return undefined;
    if (route.auth === 'session') {
      const caller = await options.authenticateSession?.(ctx.req, setHeader);
      return caller && withScope(route, caller);
    }
    return options.authenticateUpload?.(new URLSearchParams(ctx.querystring).get('token') ?? undefined);
  };

  const table = new RouteTable(options.routes, serve);

  const koa = new Koa();
  koa.on('error', error => log.debug('answer-broken', { error: messageOf(error) }));
  koa.use(async (ctx, next) => {
    const beganAtMs = clock.monotonicMs();
    requests += 1;
    const state = ctx.state as AppState;
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

/** @throws AppError `authorization-insufficient-scope` */
function withScope<Found extends { readonly scopes: ReadonlySet<Scope> }>(
  { scope }: Route,
  caller: Found,
): Found {
  if (scope !== undefined) requireScope(caller, scope);
  return caller;
}

/** A session may act for another account by now. @throws AppError `authentication-invalid-session` */
function requireSameProject(before: AnyCaller | undefined, now: AnyCaller | undefined): void {
  const [first, second] = [before, now].map(caller => caller && 'projectId' in caller && caller.projectId);
  if (first !== second) throw new AppError('authentication-invalid-session');
}

function rateLimitOwner(caller: AnyCaller): RatedProject {
  if ('projectId' in caller) return caller;
  return { projectId: caller.accountId, environment: 'production' };
}

function notFound(route: Route): AppError {
  const name = [...route.path.matchAll(/\{(\w+)\}/g)].at(-1)?.[1];
  return new AppError('resource-not-found', undefined, { details: name === undefined ? {} : { name } });
}

function setRate(ctx: Context): void {
  ctx.set(rateHeaders((ctx.state as AppState).rate));
}

function sendSuccess(ctx: Context, route: Route, status: number, answer: unknown): void {
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

function sendPreflight(ctx: Context, table: RouteTable): void {
  setRate(ctx);
  ctx.set(preflightHeaders);
  const methods = table.methodsOf(ctx.path);
  if (methods.length > 0) ctx.set('Allow', methods.join(', '));
  sendNothing(ctx, 204);
}

function sendError(ctx: Context, error: unknown, docsBase: string): void {
  if (ctx.headerSent) return;
  if (error instanceof RateExceeded) {
    (ctx.state as AppState).rate = error.rate;
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

function logFailure(log: Logger, error: unknown, state: AppState): void {
  if (error instanceof AppError && error.logLevel === 'info') return;
  const level = error instanceof AppError ? error.logLevel : 'error';
  log[level]('request-failed', { requestId: state.requestId, route: state.route, error });
}
