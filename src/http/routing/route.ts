import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { AppError, ErrorCode } from '../../shared/errors.ts';
import type { EncodedText } from '../responses/encoded-text.ts';
import type { Caller, SessionCaller, SetHeader, UploadCaller } from './caller.ts';
import type { RateClass } from './rate-limiter.ts';

/** Methods that a route can have; `HEAD` comes with `GET`, `OPTIONS` with all. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;

/** The values of a path's `{names}`. */
export type Params<Path extends string> = Readonly<Record<ParamNames<Path>, string>>;

/** A name of a path, for the API document: a sentence, with what valid values match (without anchors). */
export type PathParam = string | { readonly description: string; readonly pattern: string };

/** A file that a caller sent, spooled to disk. It is deleted after the handler unless the handler moved it. */
export interface UploadedFile {
  readonly path: string;
  readonly bytes: number;
  /** As the caller named it, without folders: not to be trusted. */
  readonly fileName: string;
  /** SHA-256, where the admission asked for it. */
  readonly digest: Buffer | undefined;
  /** Text fields that came with it, the last of each name. */
  readonly fields: ReadonlyMap<string, string>;
}

/** A request body that is one JSON object. */
export interface JsonBody<Schema extends z.ZodObject> {
  readonly kind: 'json';
  readonly schema: Schema;
}

/** A request body that is `multipart/form-data` with one file. */
export interface FileBody {
  readonly kind: 'file';
  readonly maxBytes: number;
  /** For the API document, such as `A JPEG, PNG or WebP image.` */
  readonly description: string;
  /** For the API document: media types that are taken. */
  readonly contentTypes: readonly string[];
  /** Text fields that may come with the file, a sentence for each; others are refused. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What of a file may come, decided before its bytes are read. */
export interface FileAdmission {
  readonly maxBytes: number;
  /** Told in place of `uploaded-file-too-large` when there are more. */
  readonly tooLargeError?: AppError;
  /** Whether the SHA-256 is needed. */
  readonly needsDigest?: boolean;
  /** Asked when the file begins, with the fields that came before it. Throws to refuse. */
  readonly onFileBegin?: (fields: ReadonlyMap<string, string>) => void;
  /** Called once, when the request has been answered or given up. */
  readonly onFinished?: () => void;
}

/** A header of a request, for the API document; the handler reads it itself. */
export interface RequestHeader {
  readonly description: string;
  /** What it must match, without anchors. */
  readonly pattern: string;
  readonly examples: Readonly<Record<string, string>>;
}

/** An error that a route has of its own: a status, or better the code, which gives the API document an example. */
export type RouteError = 400 | 403 | 404 | 409 | 503 | ErrorCode;

/** Declares a JSON body. */
export function jsonBody<Schema extends z.ZodObject>(schema: Schema): JsonBody<Schema> {
  return { kind: 'json', schema };
}

/** Declares a body of one file. */
export function fileBody(file: Omit<FileBody, 'kind'>): FileBody {
  return { kind: 'file', ...file };
}

/** A file as an answer. */
export interface FileAnswer {
  /** One of those that the route names. */
  readonly contentType: string;
  readonly bytes: number;
  /** Is destroyed when nobody reads on. */
  readonly stream: Readable;
}

type AnyAnswer = z.ZodType | string | readonly string[] | undefined;

/** An answer of a route that went well: a JSON schema, plain text of a content type, a file of one of some, or nothing. */
export type Success<Answer extends AnyAnswer> = {
  /** 101 is that of an upgrade, which a door answers and no handler. */
  readonly status: 101 | 200 | 201 | 202 | 204;
  readonly description: string;
  /** Headers that the handler sets, a sentence for each. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer is an {@link EncodedText} that clients may keep for a while, and that is not sent again to those who have it. */
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

/**
 * How a caller shows who it is: an API key, an access token, or a session with an environment; a session and nothing else; the
 * `token` of the query; not at all.
 */
export type RouteAuth = 'key' | 'session' | 'upload-token' | 'none';

/** Who calls a route of some {@link RouteAuth}. */
export type CallerOf<Auth> = Auth extends 'key'
  ? Caller
  : Auth extends 'session'
    ? SessionCaller
    : Auth extends 'upload-token'
      ? UploadCaller
      : undefined;

/** What a handler is given. */
export interface RouteRequest<Path extends string, Query extends z.ZodObject, Body, Found, Auth> {
  readonly params: Params<Path>;
  readonly query: z.output<Query>;
  /** The validated JSON, or the file. */
  readonly body: BodyValue<Body>;
  /** What `find` returned. */
  readonly found: Found;
  /** Whose credentials were sent. */
  readonly caller: CallerOf<Auth>;
  /** The path as it was sent. */
  readonly path: string;
  /** The query as it was sent, without its `?`. */
  readonly queryText: string;
  readonly incoming: IncomingMessage;
  /** Sets a header of the answer. */
  readonly setHeader: SetHeader;
}

/** What a route is: all of its documentation, its validation and its work. Made by {@link defineRoute}. */
export interface RouteDefinition<
  Path extends string,
  Query extends z.ZodObject,
  Body extends AnyBody,
  Found,
  Auth extends RouteAuth,
  Answer extends AnyAnswer,
> {
  readonly method: Method;
  /** `/live-streams/{liveStreamId}`: the names are the handler's `params`, the last one the `name` of a 404. */
  readonly path: Path;
  /** Heading under which the API document lists it. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: Auth;
  /** What it counts as: reads for `GET`, writes for the rest, unless said here. */
  readonly rateClass?: RateClass;
  /** A sentence for each name of the path. */
  readonly params?: Readonly<Record<ParamNames<Path>, PathParam>>;
  readonly query?: Query;
  /** Headers of requests that mean something here. */
  readonly headers?: Readonly<Record<string, RequestHeader>>;
  readonly body?: Body;
  readonly success: Success<Answer>;
  /** A second way to go well, with the same answer and another status. */
  readonly otherSuccess?: {
    readonly status: 201 | 202;
    readonly description: string;
    /** Whether a request that went well is answered with this one. */
    readonly when: (request: RouteRequest<Path, Query, Body, Found, Auth>) => boolean;
  };
  /** Errors of its own, for the API document; those that follow from the rest are added. */
  readonly errors?: readonly RouteError[];
  /** Looks the resource up before its attributes are validated; undefined answers 404. */
  readonly find?: (request: {
    readonly params: Params<Path>;
    readonly caller: CallerOf<Auth>;
  }) => Found | undefined;
  /** Asked before a file is received; without it, what the body's declaration says may come. Throws to refuse. */
  readonly admitFile?: (request: {
    readonly params: Params<Path>;
    readonly found: Found;
    readonly caller: CallerOf<Auth>;
    readonly incoming: IncomingMessage;
  }) => FileAdmission;
  readonly handle: (
    request: RouteRequest<Path, Query, Body, Found, Auth>,
  ) => AnswerValue<Answer> | Promise<AnswerValue<Answer>>;
}

/** Where nothing is sent, what the handler returns does not matter. */
type AnswerValue<Answer> = Answer extends z.ZodType
  ? z.input<Answer>
  : Answer extends string
    ? string | EncodedText
    : Answer extends readonly string[]
      ? FileAnswer
      : unknown;

/** A route of any shape, as the router and the API document see it. */
export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: RouteAuth;
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
  ) => FileAdmission;
  readonly handle: (request: RouteInput) => unknown;
}

/** What the pipeline hands to a {@link Route}; {@link defineRoute} has tied its parts to the route's schemas. */
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

/** Declares a route; the handler's input and answer are typed by the schemas. */
export function defineRoute<
  const Path extends string,
  Answer extends AnyAnswer = undefined,
  const Auth extends RouteAuth = 'key',
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends AnyBody = undefined,
  Found = undefined,
>(definition: RouteDefinition<Path, Query, Body, Found, Auth, Answer>): Route {
  const { params, query, body, rateClass, errors, find, ...rest } = definition;
  // The one place where the types are let go: the pipeline hands over exactly what these schemas gave.
  return {
    ...rest,
    params: params ?? {},
    query,
    body,
    rateClass: rateClass ?? (definition.method === 'GET' ? 'reads' : 'writes'),
    errors: errors ?? [],
    find,
  } as unknown as Route;
}

/** True where a JSON body must be sent: some attribute is required, or the route changes what the body names. */
export function isJsonBodyRequired(method: Method, schema: z.ZodObject): boolean {
  return method === 'PATCH' || !schema.safeParse({}).success;
}
