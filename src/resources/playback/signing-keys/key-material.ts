import { createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { maxRsaBits, minRsaBits, type SigningAlgorithm } from './signing-key.ts';

const generate = promisify(generateKeyPair);
/** **Source**: FIPS 186-5, 5.1 */
const minPublicExponent = 65_537n;
/** Larger ones would make each check of a signature slow. */
const maxPublicExponent = 0xffff_ffffn;

interface KeyTexts {
  /** PEM (SPKI). */
  readonly publicKey: string;
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

export async function generateKey(algorithm: SigningAlgorithm): Promise<KeyTexts> {
  const { publicKey, privateKey } = await newKeyPair(algorithm);
  return {
    publicKey: pemOf(publicKey),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function newKeyPair(algorithm: SigningAlgorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  switch (algorithm) {
    case 'ES256':
      return generate('ec', { namedCurve: 'P-256' });
    case 'EdDSA':
      return generate('ed25519');
    case 'RS256':
      return generate('rsa', { modulusLength: minRsaBits });
  }
}

/** Reads a PEM or JSON Web Key. A text says why it cannot be used. */
export function readPublicKey(
  key: string | Readonly<Record<string, unknown>>,
): { readonly publicKey: string; readonly algorithm: SigningAlgorithm } | string {
  const isPrivate = typeof key === 'string' ? key.includes('PRIVATE KEY-----') : 'd' in key;
  if (isPrivate) return 'This is a private key. Keep it secret, and send its public key only.';
  let read: KeyObject;
  try {
    read =
      typeof key === 'string'
        ? createPublicKey({ key, format: 'pem' })
        : createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
  } catch {
    return 'This is no public key in PEM or JWK format. A PEM begins with "-----BEGIN PUBLIC KEY-----".';
  }
  const publicKey = pemOf(read);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = read;
  if (type === 'ed25519') return { publicKey, algorithm: 'EdDSA' };
  if (type === 'ec' && details.namedCurve === 'prime256v1') return { publicKey, algorithm: 'ES256' };
  if (type !== 'rsa') return 'This type of key cannot be used. Use EC with the curve P-256, Ed25519 or RSA.';
  return rsaProblem(read) ?? { publicKey, algorithm: 'RS256' };
}

/** Returns why an RSA key is too weak, or too slow. */
export function rsaProblem({ asymmetricKeyDetails: details = {} }: KeyObject): string | undefined {
  const { modulusLength: bits = 0, publicExponent = 0n } = details;
  if (bits < minRsaBits || bits > maxRsaBits) {
    return `This RSA key has ${bits} bits. Use one with ${minRsaBits} to ${maxRsaBits} bits.`;
  }
  if (publicExponent > maxPublicExponent) return 'This RSA key has a very large exponent. Use 65537.';
  if (publicExponent < minPublicExponent || publicExponent % 2n === 0n) {
    return `This RSA key has the exponent ${publicExponent}, which makes forged signatures easier. Create a key with the exponent 65537.`;
  }
  return undefined;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
