import type { RemovedChanges } from './unverified-changes.store.ts';

/** Ids of what a new password leaves. */
export interface KeptCredentials {
  readonly passkeys: readonly string[];
  readonly sessions: readonly string[];
}

/** Everything that ended with a new password, or when an email address was proved. Counts, unless said otherwise. */
export interface RemovedCredentials extends RemovedChanges {
  readonly passkeys: number;
  readonly sessions: number;
  readonly apiKeys: number;
  /** Two-factor sign-in was turned off. */
  readonly twoFactor: boolean;
  readonly members: number;
  /** API keys without a known creator that remain in accounts that the user owns. */
  readonly unknownApiKeys: number;
}

const nouns = {
  passkeys: ['passkey', 'passkeys'],
  sessions: ['session', 'sessions'],
  apiKeys: ['API key', 'API keys'],
  signingKeys: ['signing key', 'signing keys'],
  uploadTokens: ['upload token', 'upload tokens'],
  streamKeys: ['stream key', 'stream keys'],
  webhooks: ['webhook', 'webhooks'],
  hooks: ['hook', 'hooks'],
  destinations: ['restream, source or player link', 'restreams, sources and player links'],
  invitations: ['invitation', 'invitations'],
  members: ['membership of others', 'memberships of others'],
} as const;

/** Lists what ended, such as `2 passkeys, 1 session and two-factor sign-in`; undefined when nothing did. */
export function describeRemoved(removed: RemovedCredentials): string | undefined {
  const names = Object.keys(nouns) as (keyof typeof nouns)[];
  const counts = names
    .filter(name => removed[name] > 0)
    .map(name => `${removed[name]} ${nouns[name][removed[name] === 1 ? 0 : 1]}`);
  if (removed.twoFactor) counts.push('two-factor sign-in');
  if (counts.length === 0) return undefined;
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(counts);
}

/** Advice about API keys that may be somebody else's; empty when there are none. */
export function describeUnknownKeys({ unknownApiKeys }: RemovedCredentials): string {
  if (unknownApiKeys === 0) return '';
  const which = unknownApiKeys === 1 ? 'one API key' : `${unknownApiKeys} API keys`;
  return `The server does not know who created ${which} of your accounts. Delete those that you do not recognize.`;
}
