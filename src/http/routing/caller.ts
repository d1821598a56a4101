import type { PeerRequest } from '../listener/client-address.ts';

/** Whose credentials came with a request. */
export interface Caller {
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
}

/** Sets a header of the answer to a request, whatever the answer is. */
export type SetHeader = (name: string, value: string) => void;

/**
 * Tells who calls: from the `Authorization` header, or from the cookie of a session and the `Millrace-Environment` header.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type Authenticate = (request: PeerRequest, setHeader: SetHeader) => Caller;

/** Who uploads with an upload token, and the token. */
export interface UploadCaller {
  readonly token: string;
  readonly projectId: string;
  readonly environment: Caller['environment'];
}

/**
 * Tells who uploads from the `token` of the query.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type AuthenticateUpload = (token: string | undefined) => UploadCaller;

/** Who is signed in, in no environment. */
export interface SessionCaller {
  readonly sessionId: string;
  readonly userId: string;
  readonly accountId: string;
}

/**
 * Tells who is signed in from the cookie of a session.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type AuthenticateSession = (request: PeerRequest, setHeader: SetHeader) => SessionCaller;
