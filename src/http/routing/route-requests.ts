import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import * as z from 'zod';
import { AppError } from '../../shared/errors.ts';
import {
  discardFile,
  type FileBodyOptions,
  prepareForFiles,
  receiveFile,
  toLostUpload,
} from '../bodies/file-body.ts';
import { readJsonBody } from '../bodies/json-body.ts';
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
import { type RequestState, sendSuccess, setRate } from './koa-responses.ts';
import { queryReader } from './query-parameters.ts';
import type { RatedProject, RateLimiter } from './rate-limiter.ts';
import {
  type FileAdmission,
  type FileAnswer,
  isJsonBodyRequired,
  type Route,
  type RouteInput,
  type UploadedFile,
} from './route.ts';
import { requireScope, type Scope } from './scope.ts';
import { followCredentials } from './valid-credentials.ts';
import { type InputPart, validate } from './validation.ts';

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

export interface RouteRequestsOptions {
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
  readonly uploadDir: string;
  /** @throws AppError `disk-full` when so many more bytes would leave too little space */
  readonly requireFreeSpace?: (bytes: number) => Promise<void>;
  readonly bodyTimeoutMs?: number;
  /** `bodyTimeoutMs` unless given. */
  readonly uploadIdleTimeoutMs?: number;
}

const maxJsonBytes = 1_024 * 1_024;
/** Anybody can send these bodies, which hold only a key or a token. */
const maxUnauthenticatedJsonBytes = 16 * 1_024;
const maxJsonDepth = 32;
const defaultBodyTimeoutMs = 20_000;
const noQuery = z.strictObject({});

/** Serves requests of routes, from the credentials to the response. */
export class RouteRequests {
  readonly #options: RouteRequestsOptions;
  readonly #bodyTimeoutMs: number;
  readonly #fileBodies: Omit<FileBodyOptions, 'signal'>;
  readonly #fileAnswers: FileAnswers;
  readonly #queryReaders: ReadonlyMap<Route, ReturnType<typeof queryReader>>;

  constructor(options: RouteRequestsOptions) {
    this.#options = options;
    this.#bodyTimeoutMs = options.bodyTimeoutMs ?? defaultBodyTimeoutMs;
    const idleTimeoutMs = options.uploadIdleTimeoutMs ?? this.#bodyTimeoutMs;
    this.#fileBodies = {
      uploadDir: options.uploadDir,
      idleTimeoutMs,
      requireFreeSpace: options.requireFreeSpace ?? (() => Promise.resolve()),
    };
    this.#fileAnswers = new FileAnswers({ idleTimeoutMs });
    this.#queryReaders = new Map(options.routes.map(route => [route, queryReader(route.query ?? noQuery)]));
  }

  async serve(ctx: Context, route: Route, params: Record<string, string>): Promise<void> {
    const { limiter } = this.#options;
    const state = ctx.state as RequestState;
    state.route = route.path;
    state.rate = limiter.unusedState(route.rateClass);
    const setHeader: SetHeader = (name, value) => ctx.set(name, value);
    if (route.body?.kind === 'file' || route.precedesFile === true) prepareForFiles();
    const caller = await this.#callerOf(ctx, route, setHeader);
    if (caller !== undefined) state.rate = limiter.require(rateLimitOwner(caller), route.rateClass);
    const { found, query, attributes } = await this.#readInput(ctx, route, params, caller);
    let file: UploadedFile | undefined;
    let admission: FileAdmission | undefined;
    try {
      if (route.body?.kind === 'file') {
        admission = (await route.admitFile?.({ params, found, caller, incoming: ctx.req })) ?? route.body;
        file = await this.#receive(ctx, route, caller, admission);
      }
      const { path, querystring: queryText, req: incoming } = ctx;
      const body = file ?? attributes;
      const request = { params, query, body, found, caller, path, queryText, incoming, setHeader };
      await this.#answer(ctx, route, request, attributes);
    } catch (error) {
      throw toLostUpload(error, this.#fileBodies.uploadDir);
    } finally {
      await Promise.all([admission?.onFinished?.(), file && discardFile(file)]);
    }
  }

  async #readInput(
    ctx: Context,
    route: Route,
    params: Record<string, string>,
    caller: AnyCaller | undefined,
  ): Promise<{ readonly found: unknown; readonly query: unknown; readonly attributes: unknown }> {
    const { method, body } = route;
    const json =
      body?.kind === 'json'
        ? await readJsonBody(ctx.req, {
            maxBytes: route.auth === 'none' ? maxUnauthenticatedJsonBytes : maxJsonBytes,
            maxDepth: maxJsonDepth,
            timeoutMs: this.#bodyTimeoutMs,
            isRequired: () => isJsonBodyRequired(method, body.schema),
          })
        : undefined;
    // No id contains it, and PostgreSQL accepts no text that does.
    if (Object.values(params).some(value => value.includes('\0'))) throw notFound(route);
    const found = await route.find?.({ params, caller });
    if (route.find !== undefined && found === undefined) throw notFound(route);
    const input = this.#queryReaders.get(route)!(ctx.querystring);
    const parts: InputPart[] = [{ source: 'query', schema: route.query ?? noQuery, input }];
    if (body?.kind === 'json') parts.push({ source: 'body', schema: body.schema, input: json });
    const [query, attributes] = validate(parts);
    return { found, query, attributes };
  }

  async #answer(ctx: Context, route: Route, request: RouteInput, attributes: unknown): Promise<void> {
    const { recordChange, inTransaction } = this.#options;
    const { params, found, caller, incoming } = request;
    const handle = async () => {
      const answer = await route.handle(request);
      if (route.method !== 'GET' && caller !== undefined)
        await recordChange({ route, params, found, caller, attributes, answer, incoming });
      return answer;
    };
    const { isAtomic } = route;
    const answer = await this.#whileAuthorized(ctx, route, caller, () =>
      isAtomic === true || isAtomic?.(request) ? inTransaction(handle) : handle(),
    );
    const { status } = route.otherSuccess?.when(request) ? route.otherSuccess : route.success;
    if (route.success.fileTypes === undefined) {
      sendSuccess(ctx, route, status, answer);
    } else {
      setRate(ctx);
      await this.#fileAnswers.send(ctx, status, answer as FileAnswer);
    }
  }

  /** A failure of a request that is not authorized any more, because its project was deleted meanwhile, is a refusal. */
  async #whileAuthorized<Result>(
    ctx: Context,
    route: Route,
    caller: AnyCaller | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AppError))
        requireSameProject(caller, await this.#callerOf(ctx, route, () => {}));
      throw error;
    }
  }

  async #receive(
    ctx: Context,
    route: Route,
    caller: AnyCaller | undefined,
    admission: FileAdmission,
  ): Promise<UploadedFile> {
    const knownFields = route.body?.kind === 'file' ? Object.keys(route.body.fields ?? {}) : [];
    const check = async () => requireSameProject(caller, await this.#callerOf(ctx, route, () => {}));
    const { followAccess } = this.#options;
    const credentials = followAccess && followCredentials(caller, check, followAccess);
    try {
      return await receiveFile(ctx, admission, knownFields, {
        ...this.#fileBodies,
        signal: credentials?.signal,
      });
    } finally {
      credentials?.release();
    }
  }

  async #callerOf(ctx: Context, route: Route, setHeader: SetHeader): Promise<AnyCaller | undefined> {
    const { authenticate, authenticateSession, authenticateUpload } = this.#options;
    if (route.auth === 'key') {
      const isLink = route.success.fileTypes !== undefined;
      const request = isLink ? fileLinkRequest(ctx.req, ctx.querystring) : ctx.req;
      return withScope(route, await authenticate(request, setHeader));
    }
    if (route.auth === 'none') return undefined;
    if (route.auth === 'session') {
      const caller = await authenticateSession?.(ctx.req, setHeader);
      return caller && withScope(route, caller);
    }
    return authenticateUpload?.(new URLSearchParams(ctx.querystring).get('token') ?? undefined);
  }
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
