import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { AppError, type ErrorCode } from '../errors.ts';

/** A request of WHIP, WHEP or a viewer who clips a broadcast. */
export interface SignalingRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Query without `?`. */
  readonly query: string;
  /** Media type in lower case, without parameters. */
  readonly contentType: string;
  readonly authorization: string | undefined;
  readonly ifMatch: string | undefined;
  readonly userAgent: string;
  /** The `Host` header without the port. */
  readonly host: string;
  readonly remoteAddress: string;
  readonly body: string;
  readonly message: IncomingMessage;
  /** Aborted when the client has left, or has the response. */
  readonly signal: AbortSignal;
}

export interface SignalingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Text of a refusal, for people. */
  readonly reason?: string;
}

export interface SignalingEndpoint {
  /** Value of the `Allow` header. */
  readonly methods: string;
  /** Default: that of an offer. */
  readonly maxBodyBytes?: number;
  hasPath(path: string): boolean;
  /** @throws AppError */
  handle(request: SignalingRequest): Promise<SignalingResponse>;
}

export const SDP = 'application/sdp';
export const maxOfferBytes = 64 * 1024;

/** The client has reached this server at it, maybe through a NAT that the server does not know of. */
export function addressOf({ host }: SignalingRequest): string | undefined {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? undefined : address;
}

export function respond(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): SignalingResponse {
  return { status, headers, body };
}

export function contentTypeError(expected: string): AppError {
  return detailed('unsupported-content-type', `Send the body with the content type ${expected}.`);
}

export function detailed(code: ErrorCode, detail: string, retryAfterSeconds?: number): AppError {
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new AppError(code, detail, { details: { detail, ...retry } });
}
