import { hash } from 'node:crypto';

/** Whether a project may be used, by what its account is. */
export type Standing = 'allowed' | 'suspended' | 'not-upgraded';

/** An account as its owner sees it. */
export interface Account {
  readonly accountId: string;
  /** Of its first user. */
  readonly email: string | undefined;
  readonly isUpgraded: boolean;
  readonly createdAtMs: number;
}

/** An API key's owner. */
export interface KeyOwner {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly accountId: string;
  readonly environment: 'sandbox' | 'production';
  readonly standing: Standing;
}

/** A suspended account may do nothing; one that is not upgraded may use its sandbox only. */
export function standingOf(account: {
  isSuspended: boolean;
  isUpgraded: boolean;
  environment: 'sandbox' | 'production';
}): Standing {
  if (account.isSuspended) return 'suspended';
  if (account.environment === 'production' && !account.isUpgraded) return 'not-upgraded';
  return 'allowed';
}

/** SHA-256: what is stored of API keys and tokens, which are too random to be guessed. */
export function hashOfSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
