import { describe, expect, it } from 'vitest';
import {
  type ApiKey,
  accessibleEnvironments,
  type KeyPair,
  limitToEnvironments,
} from '../../../../../src/resources/identity/accounts/key-pair.ts';

describe('a pair of keys', () => {
  const half = (environment: ApiKey['environment']): ApiKey => ({
    apiKeyId: `ak-${environment}`,
    projectId: `pr-${environment}`,
    environment,
    hint: undefined,
    createdAtMs: 1,
    lastUsedAtMs: undefined,
  });
  const pair = (...halves: ApiKey['environment'][]): KeyPair => ({
    keyPairId: 'kp1',
    accountId: 'ac1',
    name: undefined,
    createdAtMs: 1,
    scopes: ['read'],
    keys: Object.fromEntries(halves.map(name => [name, half(name)])),
  });
  const seen = (from: ApiKey['environment'], of: KeyPair) => {
    const within = limitToEnvironments(of, accessibleEnvironments(from));
    return within && Object.keys(within.keys);
  };

  it('is within reach as far as the credential goes', () => {
    expect(seen('production', pair('sandbox', 'production'))).toEqual(['sandbox', 'production']);
    expect(seen('sandbox', pair('sandbox', 'production'))).toEqual(['sandbox']);
    expect(seen('sandbox', pair('production'))).toBeUndefined();
    expect(seen('production', pair())).toBeUndefined();
  });
});
