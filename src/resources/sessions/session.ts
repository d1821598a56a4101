import type { SessionCaller } from '../../http/routing/caller.ts';
import type { Environment } from '../../store/tables.ts';

/** How long a session lasts that nobody uses. */
export const sessionLifetimeMs = 30 * 24 * 3_600_000;

/** Characters of the secret in the cookie: 256 bits. */
export const sessionSecretLength = 43;

/** More than these of one user are not kept: those that were not used for the longest time go. */
export const maxSessionsPerUser = 100;

/** Characters that are kept of what a browser says of itself. */
export const maxUserAgentLength = 200;

/** Somebody who is signed in, with the account. */
export interface Session extends SessionCaller {
  readonly email: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  readonly account: {
    readonly createdAtMs: number;
    readonly isUpgraded: boolean;
    readonly isSuspended: boolean;
    readonly isOperator: boolean;
  };
  readonly projectIds: Readonly<Record<Environment, string>>;
}

/** A session in the list of those of its user. */
export interface ListedSession {
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  /** From where it was begun. */
  readonly address: string;
  readonly userAgent: string | undefined;
}

/** Somebody who may sign in. */
export interface User {
  readonly userId: string;
  readonly accountId: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly isSuspended: boolean;
}
