import type { Environment } from '../../store/tables.ts';

/** Both environments, in the order in which they are shown. */
export const environments = ['sandbox', 'production'] as const satisfies readonly Environment[];

/** The maximum number of API keys in one environment. */
export const maxKeyPairs = 100;
/** Characters of a pair's name. */
export const maxKeyPairNameLength = 100;

/** One API key of a pair; its text is known to its owner only. */
export interface ApiKey {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly environment: Environment;
  /** The last characters of its text; unknown of keys from before they were noted. */
  readonly hint: string | undefined;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

/** A sandbox and a production key under one name; either may be missing. */
export interface KeyPair {
  readonly keyPairId: string;
  readonly accountId: string;
  readonly name: string | undefined;
  readonly createdAtMs: number;
  readonly keys: Readonly<Partial<Record<Environment, ApiKey>>>;
}

/** The environments whose keys may be seen and changed with a credential: a sandbox one must not lead to production. */
export function accessibleEnvironments(environment: Environment): readonly Environment[] {
  return environment === 'production' ? environments : ['sandbox'];
}

/** A pair as far as a credential reaches; undefined when nothing of it is left. */
export function limitToEnvironments(pair: KeyPair, allowed: readonly Environment[]): KeyPair | undefined {
  const keys = allowed.flatMap(environment => pair.keys[environment] ?? []);
  if (keys.length === 0) return undefined;
  return { ...pair, keys: Object.fromEntries(keys.map(half => [half.environment, half])) };
}
