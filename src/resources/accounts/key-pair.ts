import type { Environment } from '../../store/account-tables.ts';

/** In display order. */
export const environments = ['sandbox', 'production'] as const satisfies readonly Environment[];

/** Per environment. */
export const maxKeyPairs = 100;
export const maxKeyPairNameLength = 100;

/** One API key of a pair. Only its hash is stored. */
export interface ApiKey {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly environment: Environment;
  /** The last characters of the key; undefined for keys that were created before hints were stored. */
  readonly hint: string | undefined;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

/** A sandbox key and a production key under one name. Either may be missing. */
export interface KeyPair {
  readonly keyPairId: string;
  readonly accountId: string;
  readonly name: string | undefined;
  readonly createdAtMs: number;
  readonly keys: Readonly<Partial<Record<Environment, ApiKey>>>;
}

/** Environments whose keys a credential can see and change. A sandbox credential must not lead to production. */
export function accessibleEnvironments(environment: Environment): readonly Environment[] {
  return environment === 'production' ? environments : ['sandbox'];
}

/** Removes the keys of other environments; undefined when no key remains. */
export function limitToEnvironments(pair: KeyPair, allowed: readonly Environment[]): KeyPair | undefined {
  const keys = allowed.flatMap(environment => pair.keys[environment] ?? []);
  if (keys.length === 0) return undefined;
  return { ...pair, keys: Object.fromEntries(keys.map(half => [half.environment, half])) };
}
