import type { PeerRequest } from '../listener/client-address.ts';
import type { Scope } from './scope.ts';

/** The sender of a request: an API key, by itself or with one of its tokens, or a user, with a session. */
export type Actor =
  | {
      readonly kind: 'api-key';
      readonly apiKeyId: string;
      /** The name of its pair. */
      readonly name: string | undefined;
      /** The user who created the key, if it is known. */
      readonly userId: string | undefined;
      /** The user has not proved the email address. */
      readonly isUnverified: boolean;
    }
  | {
      readonly kind: 'user';
      readonly userId: string;
      readonly isUnverified: boolean;
      readonly email: string;
      readonly sessionId: string;
    };

export interface Caller {
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
  readonly actor: Actor;
  readonly scopes: ReadonlySet<Scope>;
}

export type SetHeader = (name: string, value: string) => void;

/** Reads an API key or token, or a session cookie. @throws AppError `authentication-*`, `authorization-*` */
export type Authenticate = (request: PeerRequest, setHeader: SetHeader) => Promise<Caller>;

/**
 * Calls `changed` when the credentials of an account may no longer be valid, and soon after this call; undefined for any
 * account. @returns ends that
 */
export type FollowAccess = (accountId: string | undefined, changed: () => void) => () => void;

export interface UploadCaller {
  readonly token: string;
  readonly projectId: string;
  readonly environment: Caller['environment'];
}

/** Reads the `token` of the query. @throws AppError of the `authentication-` and `authorization-` codes */
export type AuthenticateUpload = (token: string | undefined) => Promise<UploadCaller>;

export interface SessionCaller {
  readonly sessionId: string;
  readonly userId: string;
  readonly accountId: string;
  /** Scopes of the user's role in the account. */
  readonly scopes: ReadonlySet<Scope>;
  readonly actor: Actor;
}

export type AnyCaller = Caller | UploadCaller | SessionCaller;

/** Reads the session cookie. @throws AppError of the `authentication-` and `authorization-` codes */
export type AuthenticateSession = (request: PeerRequest, setHeader: SetHeader) => Promise<SessionCaller>;
