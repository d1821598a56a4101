import { describe, expect, it } from 'vitest';
import { emailFault } from '../../../src/resources/accounts/account.ts';
import {
  type KeyHalf,
  type KeyPair,
  reachOf,
  withinReach,
} from '../../../src/resources/accounts/key-pair.ts';

describe('an address to sign in with', () => {
  it.each([
    'a@b',
    'admin@localhost',
    'first.last+tag@sub.example.org',
    "o'brien@example.org",
    `${'x'.repeat(64)}@example.org`,
  ])('may be %j', email => {
    expect(emailFault(email)).toBeUndefined();
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
    expect(emailFault(email)).toEqual(expect.any(String));
  });
});

describe('a pair of keys', () => {
  const half = (environment: KeyHalf['environment']): KeyHalf => ({
    apiKeyId: `ak-${environment}`,
    projectId: `pr-${environment}`,
    environment,
    hint: undefined,
    createdAtMs: 1,
    lastUsedAtMs: undefined,
  });
  const pair = (...halves: KeyHalf['environment'][]): KeyPair => ({
    keyPairId: 'kp1',
    accountId: 'ac1',
    name: undefined,
    createdAtMs: 1,
    halves: Object.fromEntries(halves.map(name => [name, half(name)])),
  });
  const seen = (from: KeyHalf['environment'], of: KeyPair) => {
    const within = withinReach(of, reachOf(from));
    return within && Object.keys(within.halves);
  };

  it('is within reach as far as the credential goes', () => {
    expect(seen('production', pair('sandbox', 'production'))).toEqual(['sandbox', 'production']);
    expect(seen('sandbox', pair('sandbox', 'production'))).toEqual(['sandbox']);
    expect(seen('sandbox', pair('production'))).toBeUndefined();
    expect(seen('production', pair())).toBeUndefined();
  });
});
