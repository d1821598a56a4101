import { hash } from 'node:crypto';

/** Whether a project may be used, by what its account is. */
export type Standing = 'allowed' | 'suspended' | 'not-upgraded';

/** An account as its owner sees it. */
export interface Account {
  readonly accountId: string;
  /** Of its first user. */
  readonly email: string | undefined;
  readonly isUpgraded: boolean;
  /** Whether whoever has it runs the server. */
  readonly isOperator: boolean;
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

/**
 * What is wrong with an address that somebody is to sign in with; undefined when nothing is.
 *
 * **Source**: RFC 5321 4.5.3.1, for the lengths. The form is what mail hosts take, and `name@host` for machines without a domain.
 */
export function describeEmailProblem(email: string): string | undefined {
  const [, local, domain] = /^([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+)@([A-Za-z0-9.-]+)$/.exec(email) ?? [];
  if (local === undefined || domain === undefined) return 'An address is of the form name@example.org.';
  if (local.length > 64 || domain.length > 255) return 'The address is too long.';
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) {
    return 'A dot stands between other characters of an address.';
  }
  if (!domain.split('.').every(label => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label))) {
    return 'What follows the @ is no name of a host.';
  }
  return undefined;
}
