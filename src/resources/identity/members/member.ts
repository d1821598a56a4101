import { allScopes, type Scope } from '../../../http/routing/scope.ts';
import type { MailOutcome } from '../../../mail/mail-queue.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';

export const roles = ['owner', 'editor', 'viewer'] as const;

export type Role = (typeof roles)[number];

const scopesByRole: Readonly<Record<Role, ReadonlySet<Scope>>> = {
  owner: allScopes,
  editor: new Set(['read', 'upload', 'live']),
  viewer: new Set(['read']),
};

export function scopesOfRole(role: Role): ReadonlySet<Scope> {
  return scopesByRole[role];
}

export const maxMembers = 200;
export const maxInvitations = 100;
export const maxAccountNameLength = 100;
export const invitationLifetimeMs = 7 * 24 * 3_600_000;

/** 256 bits in base62. */
export const invitationTokenLength = 43;

export interface Member {
  readonly userId: string;
  readonly email: EmailAddress;
  readonly isVerified: boolean;
  readonly role: Role;
  readonly createdAtMs: number;
}

/** An account, as one of its members sees it. */
export interface Membership {
  readonly accountId: string;
  readonly name: string | undefined;
  /** The email address of its first owner. */
  readonly ownerEmail: EmailAddress | undefined;
  readonly role: Role;
  readonly isSuspended: boolean;
}

export interface MailState extends Omit<MailOutcome, 'status'> {
  readonly status: 'sending' | MailOutcome['status'];
}

export interface Invitation {
  readonly invitationId: string;
  readonly accountId: string;
  readonly email: EmailAddress;
  readonly role: Role;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Undefined if the server sent no mail. */
  readonly mail: MailState | undefined;
}
