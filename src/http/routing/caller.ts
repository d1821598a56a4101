import type { PeerRequest } from '../listener/client-address.ts';

/** Owner of a request's credentials. */
export interface Caller {
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
}

/** Sets a header of the response, whatever its status. */
export type SetHeader = (name: string, value: string) => void;

/**
 * Identifies the caller by the `Authorization` header, or by the cookie of a session and the `Millrace-Environment` header.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type Authenticate = (request: PeerRequest, setHeader: SetHeader) => Caller;

/** An uploader with an upload token. */
export interface UploadCaller {
  readonly token: string;
  readonly projectId: string;
  readonly environment: Caller['environment'];
}

/**
 * Identifies the uploader by the `token` of the query.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type AuthenticateUpload = (token: string | undefined) => UploadCaller;

/** A signed-in user, without an environment. */
export interface SessionCaller {
  readonly sessionId: string;
  readonly userId: string;
  readonly accountId: string;
}

/**
 * Identifies the signed-in user by the cookie of a session.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type AuthenticateSession = (request: PeerRequest, setHeader: SetHeader) => SessionCaller;
