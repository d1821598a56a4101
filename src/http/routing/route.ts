import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { AppError, ErrorCode } from '../../shared/errors.ts';
import type { ByteRange } from '../responses/byte-range.ts';
import type { EncodedText } from '../responses/encoded-text.ts';
import type { Caller, SessionCaller, SetHeader, UploadCaller } from './caller.ts';
import type { RateClass } from './rate-limiter.ts';
import type { Scope } from './scope.ts';

/** `HEAD` comes with `GET`, `OPTIONS` with all. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

type Params<Path extends string> = Readonly<Record<ParamNames<Path>, string>>;

/** A sentence, and a pattern without anchors. */
type PathParam = string | { readonly description: string; readonly pattern: string };

/** Spooled to disk, and deleted after the handler unless the handler moved it. */
export interface UploadedFile {
  readonly path: string;
  readonly bytes: number;
  /** Named by the caller, without folders; not to be trusted. */
  readonly fileName: string;
  readonly digest: Buffer | undefined;
  /** Fields by name; the last one of each counts. */
  readonly fields: ReadonlyMap<string, string>;
}

interface JsonBody<Schema extends z.ZodObject> {
  readonly kind: 'json';
  readonly schema: Schema;
}

export interface FileBody {
  readonly kind: 'file';
  readonly maxBytes: number;
  /** Text in the API document, such as `A JPEG, PNG or WebP image.` */
  readonly description: string;
  readonly contentTypes: readonly string[];
  readonly fields?: Readonly<Record<string, string>>;
}

export interface FileAdmission {
  readonly maxBytes: number;
  /** Replaces `uploaded-file-too-large`. */
  readonly tooLargeError?: AppError;
  readonly needsDigest?: boolean;
  /** Receives the fields before the file. Throws to refuse. */
  readonly onFileBegin?: (fields: ReadonlyMap<string, string>) => Promise<void>;
  /** Called once, when the request is over. */
  readonly onFinished?: () => Promise<void>;
}

/** Documented only: the handler reads it itself. */
interface RequestHeader {
  readonly description: string;
  /** Pattern without anchors. */
  readonly pattern: string;
  readonly examples: Readonly<Record<string, string>>;
}

/** A code gives the API document an example, unlike a status. */
type RouteError = 400 | 403 | 404 | 409 | 503 | ErrorCode;

export function jsonBody<Schema extends z.ZodObject>(schema: Schema): JsonBody<Schema> {
  return { kind: 'json', schema };
}

export function fileBody(file: Omit<FileBody, 'kind'>): FileBody {
  return { kind: 'file', ...file };
}

export interface FileAnswer {
  readonly contentType: string;
  readonly bytes: number;
  /** Quoted, strong. */
  readonly etag: string;
  readonly contentDisposition?: string;
  /** Called at most once. The stream is destroyed when the client leaves. */
  readonly open: (range: ByteRange) => Promise<Readable>;
}

type AnyAnswer = z.ZodType | string | readonly string[] | undefined;

type Success<Answer extends AnyAnswer> = {
  /** 101 is for upgrades, to which an upgrade handler responds. */
  readonly status: 101 | 200 | 201 | 202 | 204;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The response is an {@link EncodedText} that clients cache and revalidate. */
  readonly isCacheable?: true;
} & (Answer extends z.ZodType
  ? { readonly schema: Answer }
  : Answer extends string
    ? { readonly contentType: Answer }
    : Answer extends readonly string[]
      ? { readonly fileTypes: Answer }
      : unknown);

type AnyBody = JsonBody<z.ZodObject> | FileBody | undefined;
type BodyValue<Body> =
  Body extends JsonBody<infer Schema> ? z.output<Schema> : Body extends FileBody ? UploadedFile : undefined;

/** `key` accepts an API key, an access token or a session with an environment. */
type RouteAuth = 'key' | 'session' | 'upload-token' | 'none';

type CallerOf<Auth> = Auth extends 'key'
  ? Caller
  : Auth extends 'session'
    ? SessionCaller
    : Auth extends 'upload-token'
      ? UploadCaller
      : undefined;

interface RouteRequest<Path extends string, Query extends z.ZodObject, Body, Found, Auth> {
  readonly params: Params<Path>;
  readonly query: z.output<Query>;
  readonly body: BodyValue<Body>;
  readonly found: Found;
  readonly caller: CallerOf<Auth>;
  readonly path: string;
  /** Query without its `?`. */
  readonly queryText: string;
  readonly incoming: IncomingMessage;
  readonly setHeader: SetHeader;
}

/** Writes with a key must name their scope. */
type RouteScope<Verb extends Method, Auth extends RouteAuth> = Auth extends 'key'
  ? Verb extends 'GET'
    ? { readonly scope?: Scope }
    : { readonly scope: Scope }
  : Auth extends 'session'
    ? { readonly scope?: Scope }
    : { readonly scope?: never };

interface RouteDefinition<
  Verb extends Method,
  Path extends string,
  Query extends z.ZodObject,
  Body extends AnyBody,
  Found,
  Auth extends RouteAuth,
  Answer extends AnyAnswer,
> {
  readonly method: Verb;
  /** `/live-streams/{liveStreamId}`: the last name is the `name` of a 404. */
  readonly path: Path;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Name in the audit log. Derived from the method and path unless given. */
  readonly action?: string;
  readonly auth: Auth;
  /** `reads` for `GET` and `writes` for other methods unless given. */
  readonly rateClass?: RateClass;
  readonly params?: Readonly<Record<ParamNames<Path>, PathParam>>;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, RequestHeader>>;
  readonly body?: Body;
  readonly success: Success<Answer>;
  readonly otherSuccess?: {
    readonly status: 201 | 202;
    readonly description: string;
    readonly when: (request: RouteRequest<Path, Query, Body, Found, Auth>) => boolean;
  };
  readonly errors?: readonly RouteError[];
  /** Runs before validation; undefined answers 404. */
  readonly find?: (request: {
    readonly params: Params<Path>;
    readonly caller: CallerOf<Auth>;
  }) => Promise<Found | undefined> | Found | undefined;
  /** Runs before the upload; the limits of `body` apply unless given. Throws to refuse. */
  readonly admitFile?: (request: {
    readonly params: Params<Path>;
    readonly found: Found;
    readonly caller: CallerOf<Auth>;
    readonly incoming: IncomingMessage;
  }) => Promise<FileAdmission> | FileAdmission;
  /**
   * Runs `handle` in one transaction with its entry in the audit log: it must wait for nothing but the database, catch no
   * error of it, and act outside of it after the commit only.
   */
  readonly isAtomic?: true | ((request: RouteRequest<Path, Query, Body, Found, Auth>) => boolean);
  /** A file follows soon, mostly with the next request. */
  readonly precedesFile?: true;
  readonly handle: (
    request: RouteRequest<Path, Query, Body, Found, Auth>,
  ) => AnswerValue<Answer> | Promise<AnswerValue<Answer>>;
}

type AnswerValue<Answer> = Answer extends z.ZodType
  ? z.input<Answer>
  : Answer extends string
    ? string | EncodedText
    : Answer extends readonly string[]
      ? FileAnswer
      : unknown;

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly action?: string;
  readonly auth: RouteAuth;
  /** Scope that the caller must have; undefined for credentials without scopes. */
  readonly scope: Scope | undefined;
  readonly rateClass: RateClass;
  readonly params: Readonly<Record<string, PathParam>>;
  readonly query: z.ZodObject | undefined;
  readonly headers?: Readonly<Record<string, RequestHeader>>;
  readonly body: AnyBody;
  readonly success: {
    readonly status: number;
    readonly description: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly isCacheable?: true;
    readonly schema?: z.ZodType;
    readonly contentType?: string;
    readonly fileTypes?: readonly string[];
  };
  readonly otherSuccess?: {
    readonly status: number;
    readonly description: string;
    readonly when: (request: RouteInput) => boolean;
  };
  readonly errors: readonly RouteError[];
  readonly find:
    | ((request: { params: Record<string, string>; caller: RouteInput['caller'] }) => unknown)
    | undefined;
  readonly admitFile?: (
    request: Pick<RouteInput, 'params' | 'found' | 'caller' | 'incoming'>,
  ) => Promise<FileAdmission> | FileAdmission;
  readonly isAtomic?: true | ((request: RouteInput) => boolean);
  readonly precedesFile?: true;
  readonly handle: (request: RouteInput) => unknown;
}

export interface RouteInput {
  readonly params: Record<string, string>;
  readonly query: unknown;
  readonly body: unknown;
  readonly found: unknown;
  readonly caller: Caller | UploadCaller | SessionCaller | undefined;
  readonly path: string;
  readonly queryText: string;
  readonly incoming: IncomingMessage;
  readonly setHeader: SetHeader;
}

/** Defines a route. With a key, the scope of `GET` is `read` unless given. */
export function defineRoute<
  const Path extends string,
  Answer extends AnyAnswer = undefined,
  const Auth extends RouteAuth = 'key',
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends AnyBody = undefined,
  Found = undefined,
  const Verb extends Method = Method,
>(definition: RouteDefinition<Verb, Path, Query, Body, Found, Auth, Answer> & RouteScope<Verb, Auth>): Route {
  const { params, query, body, rateClass, errors, find, scope, ...rest } = definition;
  // Drops the types: the router passes exactly what these schemas return.
  return {
    ...rest,
    params: params ?? {},
    query,
    body,
    scope: scope ?? (definition.auth === 'key' ? 'read' : undefined),
    rateClass: rateClass ?? (definition.method === 'GET' ? 'reads' : 'writes'),
    errors: errors ?? [],
    find,
  } as unknown as Route;
}

export function isJsonBodyRequired(method: Method, schema: z.ZodObject): boolean {
  return method === 'PATCH' || !schema.safeParse({}).success;
}
