/** Ids of what a new password leaves. */
export interface KeptCredentials {
  readonly passkeys: readonly string[];
  readonly sessions: readonly string[];
}

/** Credentials that ended with a new password, or when an email address was proved. */
export interface RemovedCredentials {
  readonly passkeys: number;
  readonly sessions: number;
  readonly apiKeys: number;
  readonly twoFactor: boolean;
}

/** Such as `2 passkeys, 1 session and two-factor sign-in`; undefined when nothing ended. */
export function describeRemoved({
  passkeys,
  sessions,
  apiKeys,
  twoFactor,
}: RemovedCredentials): string | undefined {
  const counts = [
    ...count(passkeys, 'passkey'),
    ...count(sessions, 'session'),
    ...count(apiKeys, 'API key'),
    ...(twoFactor ? ['two-factor sign-in'] : []),
  ];
  if (counts.length === 0) return undefined;
  return new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(counts);
}

function count(number: number, noun: string): string[] {
  if (number === 0) return [];
  return [`${number} ${noun}${number === 1 ? '' : 's'}`];
}
