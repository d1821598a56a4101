import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import {
  generateKey,
  readPublicKey,
} from '../../../../../src/resources/playback/signing-keys/key-material.ts';

const rsa = (modulusLength: number, publicExponent: number) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey;
const strong = rsa(2048, 65_537);

it.each([
  ['the exponent 3', rsa(2048, 3), 'the exponent 3,'],
  ['the exponent 17', rsa(2048, 17), 'the exponent 17,'],
  ['the exponent 65535', rsa(2048, 65_535), 'the exponent 65535,'],
  ['1024 bits', rsa(1024, 65_537), '1024 bits'],
])('refuses an RSA key with %s, and says what to do', (_what, key, reason) => {
  for (const given of [
    key.export({ type: 'spki', format: 'pem' }).toString(),
    { ...key.export({ format: 'jwk' }) },
  ]) {
    const read = readPublicKey(given);
    expect(read).toContain(reason);
    expect(read).toMatch(/Create a key|Use one/);
  }
});

it.each(['AQ', 'AQAA', 'AQAC'])('refuses the exponent %s of a JSON Web Key, which is 1 or even', e => {
  expect(typeof readPublicKey({ ...strong.export({ format: 'jwk' }), e })).toBe('string');
});

it('accepts its own keys, and RSA keys with the usual exponent', async () => {
  for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { publicKey } = await generateKey(algorithm);
    expect(readPublicKey(publicKey)).toEqual({ publicKey, algorithm });
  }
  expect(readPublicKey({ ...strong.export({ format: 'jwk' }) })).toMatchObject({ algorithm: 'RS256' });
});
