import { createHmac } from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { SignedTokens, type VerificationKey } from '../../../src/delivery/signed-tokens.ts';
import { newTestKey, signToken, type TestSigningKey } from '../../support/sign-token.ts';

const resource = { id: 'vi1', projectId: 'pr1' };
const keyId = 'skOfTheTests000000000000';
const es256 = newTestKey(keyId, 'pr1');
const dayS = 86_400;
const nowS = 1_800_000_000;

const time = { ms: nowS * 1000, monotonicMs: 1 };
let keys: Map<string, VerificationKey>;
let lookups: number;
let tokens: SignedTokens;

beforeEach(() => {
  time.ms = nowS * 1000;
  keys = new Map([[es256.id, es256]]);
  lookups = 0;
  tokens = new SignedTokens({
    findSigningKey: async id => {
      lookups += 1;
      return keys.get(id);
    },
    clock: { nowMs: () => time.ms, monotonicMs: () => time.monotonicMs },
  });
});

const claims = (more: Record<string, unknown> = {}) => ({ sub: 'vi1', exp: nowS + 3600, ...more });
const verify = (token: string) => tokens.verify(token, resource);
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

it.each(['ES256', 'EdDSA', 'RS256'] as const)(
  'accepts %s, and any number of uses until the token expires',
  async algorithm => {
    const key = newTestKey(keyId, 'pr1', algorithm);
    keys.set(key.id, key);
    const token = await signToken(key, claims({ viewer: 'Zoë #7' }));
    const limits = { signingKeyId: key.id, policy: undefined, endsAtMs: (nowS + 3600) * 1000 };
    expect(await verify(token)).toEqual({ limits, viewer: 'Zoë #7' });
    expect(await verify(token)).toMatchObject({ viewer: 'Zoë #7' });
    expect(lookups).toBe(1);
    time.ms += 3_629_000;
    expect(await verify(token)).toMatchObject({ viewer: 'Zoë #7' });
    time.ms += 1000;
    expect(await verify(token)).toMatch('has expired');
  },
);

it('reads domains in any case, and countries', async () => {
  const token = await signToken(es256, claims({ domains: ['*.Example.com'], countries: ['DE'] }));
  expect(await verify(token)).toMatchObject({
    limits: {
      policy: {
        allowedDomains: ['*.example.com'],
        allowNoReferrer: true,
        allowedCountries: ['DE'],
        blockedCountries: [],
      },
    },
    viewer: undefined,
  });
});

it('refuses a token within a second after its key was revoked, although the token is cached', async () => {
  const token = await signToken(es256, claims());
  expect(await verify(token)).toMatchObject({});
  keys.delete(es256.id);
  time.monotonicMs += 1000;
  expect(await verify(token)).toMatch('revoked');
  const other = await signToken(es256, claims({ viewer: 'new' }));
  expect(await verify(other)).toMatch('revoked');
});

const refused: [string, () => Promise<string> | string, string][] = [
  ['of another video', () => signToken(es256, claims({ sub: 'vi2' })), 'another video'],
  ['without an expiry', () => signToken(es256, { sub: 'vi1' }), '`exp`'],
  ['without a subject', () => signToken(es256, { exp: nowS + 60 }), '`sub`'],
  ['that has expired', () => signToken(es256, claims({ exp: nowS - 31 })), 'has expired'],
  ['that is not valid yet', () => signToken(es256, claims({ nbf: nowS + 31 })), 'not valid yet'],
  ['that expires too late', () => signToken(es256, claims({ exp: nowS + 7 * dayS + 31 })), 'at most 7 days'],
  ['with an expiry that is no number', () => signToken(es256, claims({ exp: '9' }) as never), '`exp`'],
  ['with a list as subject', () => signToken(es256, claims({ sub: ['vi1'] }) as never), '`sub`'],
  ['with a number as subject', () => signToken(es256, claims({ sub: 1 }) as never), '`sub`'],
  ['with a text as domains', () => signToken(es256, claims({ domains: 'example.com' })), '`domains`'],
  ['with no domains', () => signToken(es256, claims({ domains: [] })), '`domains`'],
  ['with a URL as domain', () => signToken(es256, claims({ domains: ['https://a.example'] })), '`domains`'],
  ['with a number as country', () => signToken(es256, claims({ countries: [49] })), '`countries`'],
  ['with a long viewer', () => signToken(es256, claims({ viewer: 'x'.repeat(65) })), '`viewer`'],
  ['with control characters as viewer', () => signToken(es256, claims({ viewer: 'a\nb' })), '`viewer`'],
  ['with a number as viewer', () => signToken(es256, claims({ viewer: 7 })), '`viewer`'],
  ['of an unknown key', () => signToken(es256, claims(), { kid: 'skUnknown000000000000000' }), 'signing key'],
  ['without a key id', () => signToken(es256, claims(), { kid: undefined }), 'signing key'],
  ['with an object as key id', () => signToken(es256, claims(), { kid: {} }), 'signing key'],
  ['of another private key', () => signToken({ ...newTestKey(keyId, 'pr1') }, claims()), 'signature'],
  [
    'with an extension',
    () => signToken(es256, claims(), { crit: ['exp'] }).catch(() => critical()),
    'JSON Web Token',
  ],
  ['of garbage', () => 'a.b.c', 'JSON Web Token'],
  ['of two parts', () => `${base64({ alg: 'ES256', kid: keyId })}.${base64(claims())}`, 'JSON Web Token'],
  ['whose payload is no object', () => signText('[1]'), 'JSON Web Token'],
  ['that is huge', () => `${base64({ alg: 'ES256', kid: keyId })}.${'a'.repeat(100_000)}.x`, '1600'],
];

it.each(refused)('refuses a token %s', async (_, sign, reason) => {
  expect(await verify(await sign())).toMatch(reason);
});

it('refuses `none`, and HS256 with the public key as secret', async () => {
  for (const alg of ['none', 'None', 'HS256', 'ES384', 'PS256', undefined]) {
    const signed = `${base64({ alg, kid: keyId })}.${base64(claims())}`;
    const secret = es256.publicKey.export({ type: 'spki', format: 'pem' });
    const signature = createHmac('sha256', secret).update(signed).digest('base64url');
    for (const token of [`${signed}.${signature}`, `${signed}.`]) {
      expect(await verify(token)).toMatch('algorithm');
    }
  }
  // The algorithm is that of the key, whatever the token says.
  const rsa = newTestKey(keyId, 'pr1', 'RS256');
  expect(await verify(await signToken(rsa, claims()))).toMatch('algorithm');
});

it('refuses a valid token of another project', async () => {
  const other: TestSigningKey = newTestKey('skOther00000000000000000', 'pr2');
  keys.set(other.id, other);
  expect(await verify(await signToken(other, claims()))).toMatch('does not exist in this environment');
});

it('checks the signatures of a bounded number of tokens at once', async () => {
  const asked = Array.from({ length: 600 }, (_, index) =>
    verify(`${base64({ alg: 'ES256', kid: keyId })}.${base64(claims({ index }))}.AAAA`),
  );
  const reasons = await Promise.all(asked);
  expect(reasons.filter(reason => String(reason).includes('too many tokens'))).toHaveLength(100);
  expect(lookups).toBe(1);
});

function critical(): string {
  return `${base64({ alg: 'ES256', kid: keyId, crit: ['x'], x: 1 })}.${base64(claims())}.AAAA`;
}

async function signText(payload: string): Promise<string> {
  const { CompactSign } = await import('jose');
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .sign(es256.privateKey);
}
