import { describe, expect, it } from 'vitest';
import { describeEmailProblem } from '../../../../src/resources/accounts/account.ts';
import {
  type ApiKey,
  accessibleEnvironments,
  type KeyPair,
  limitToEnvironments,
} from '../../../../src/resources/accounts/key-pair.ts';

describe('an address to sign in with', () => {
  it.each([
    'a@b',
    'admin@localhost',
    'first.last+tag@sub.example.org',
    "o'brien@example.org",
    `${'x'.repeat(64)}@example.org`,
  ])('may be %j', email => {
    expect(describeEmailProblem(email)).toBeUndefined();
  });

  it.each([
    '',
    'a',
    '@example.org',
    'a@',
    'a b@example.org',
    'a@b@c',
    '.a@example.org',
    'a.@example.org',
    'a..b@example.org',
    'a@-example.org',
    'a@example..org',
    'a@example.org.',
    'a@exa_mple.org',
    'Name <a@example.org>',
    'ä@example.org',
    'a@example.org\n',
    `${'x'.repeat(65)}@example.org`,
    `a@${'x.'.repeat(127)}org`,
  ])('may not be %j', email => {
    expect(describeEmailProblem(email)).toEqual(expect.any(String));
  });
});

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
