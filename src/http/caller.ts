/** Whose credentials came with a request. */
export interface Caller {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
}

/**
 * Tells who calls from the `Authorization` header.
 *
 * @throws AppError of the `authentication-` and `authorization-` codes
 */
export type Authenticate = (authorization: string | undefined) => Caller;

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
