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
