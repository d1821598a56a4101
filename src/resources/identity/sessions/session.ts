import type { SessionCaller } from '../../../http/routing/caller.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Role } from '../members/member.ts';
import type { ProjectPair } from '../projects/project-pair.ts';

/** Counted from the last use. */
export const sessionLifetimeMs = 30 * 24 * 3_600_000;

/** 256 bits in base62. */
export const sessionSecretLength = 43;

/** Limit of sessions; the least recently used ones end first. */
export const maxSessionsPerUser = 100;

export const maxUserAgentLength = 200;

export interface Session extends SessionCaller {
  readonly email: EmailAddress;
  /** The user has proved the email address. */
  readonly isVerified: boolean;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  readonly role: Role;
  readonly account: {
    readonly name: string | undefined;
    readonly createdAtMs: number;
    readonly isUpgraded: boolean;
    readonly isSuspended: boolean;
    readonly isOperator: boolean;
  };
  /** Projects of the account, at least one; the oldest first. */
  readonly projects: readonly ProjectPair[];
}

export interface ListedSession {
  readonly sessionId: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly address: string;
  readonly userAgent: string | undefined;
}

export interface User {
  readonly userId: string;
  readonly accountId: string;
  readonly email: EmailAddress;
  /** The user has proved the email address. */
  readonly isVerified: boolean;
  readonly passwordHash: string;
  readonly isSuspended: boolean;
}
