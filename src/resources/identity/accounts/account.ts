import { hash } from 'node:crypto';
import type { Actor } from '../../../http/routing/caller.ts';
import type { Scope } from '../../../http/routing/scope.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';

export type Standing = 'allowed' | 'suspended' | 'not-upgraded';

export interface Account {
  readonly accountId: string;
  readonly name: string | undefined;
  /** Email address of the first owner. */
  readonly email: EmailAddress | undefined;
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
