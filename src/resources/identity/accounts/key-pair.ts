import { type Scope, scopes } from '../../../http/routing/scope.ts';
import type { Environment } from '../../../store/tables.ts';

export const environments = ['sandbox', 'production'] as const satisfies readonly Environment[];

export const maxKeyPairs = 100;
export const maxKeyPairNameLength = 100;

export interface ApiKey {
  readonly apiKeyId: string;
  readonly projectId: string;
  readonly environment: Environment;
  /** Last characters of the key; undefined for keys that are older than hints. */
  readonly hint: string | undefined;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

export interface KeyPair {
  readonly keyPairId: string;
  readonly accountId: string;
  readonly name: string | undefined;
  readonly createdAtMs: number;
  readonly scopes: readonly Scope[];
  readonly keys: Readonly<Partial<Record<Environment, ApiKey>>>;
}

/** Ignores scopes of newer servers. */
export function parseScopes(text: string): Scope[] {
  const words = text.split(' ');
  return scopes.filter(scope => words.includes(scope));
}

/** A sandbox credential must not lead to production. */
export function accessibleEnvironments(environment: Environment): readonly Environment[] {
  return environment === 'production' ? environments : ['sandbox'];
}

export function limitToEnvironments(pair: KeyPair, allowed: readonly Environment[]): KeyPair | undefined {
  const keys = allowed.flatMap(environment => pair.keys[environment] ?? []);
  if (keys.length === 0) return undefined;
  return { ...pair, keys: Object.fromEntries(keys.map(half => [half.environment, half])) };
}
