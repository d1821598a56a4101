import { hash } from 'node:crypto';
import type { Actor } from '../../http/routing/caller.ts';
import type { Scope } from '../../http/routing/scope.ts';

export type Standing = 'allowed' | 'suspended' | 'not-upgraded';

export interface Account {
  readonly accountId: string;
  readonly name: string | undefined;
  /** Of the first owner. */
  readonly email: string | undefined;
  readonly isUpgraded: boolean;
  readonly isOperator: boolean;
  readonly createdAtMs: number;
}

export interface KeyOwner {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
  readonly scopes: ReadonlySet<Scope>;
  readonly standing: Standing;
  readonly actor: Actor;
}

/** A suspended account can do nothing. One that is not upgraded can use its sandbox only. */
export function standingOf(account: {
  isSuspended: boolean;
  isUpgraded: boolean;
  environment: 'sandbox' | 'production';
}): Standing {
  if (account.isSuspended) return 'suspended';
  if (account.environment === 'production' && !account.isUpgraded) return 'not-upgraded';
  return 'allowed';
}

/** Uses SHA-256: random secrets need no slow hash. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** **Source**: RFC 5321 4.5.3.1 for the lengths. Also accepts `name@host`, for machines without a domain. */
export function describeEmailProblem(email: string): string | undefined {
  const [, local, domain] = /^([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+)@([A-Za-z0-9.-]+)$/.exec(email) ?? [];
  if (local === undefined || domain === undefined) return 'An email address looks like name@example.org.';
  if (local.length > 64 || domain.length > 255) return 'The email address is too long.';
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'A dot in an email address must be between other characters.';
  }
  if (!domain.split('.').every(label => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label))) {
    return 'The part after the @ is not a host name.';
  }
  return undefined;
}
