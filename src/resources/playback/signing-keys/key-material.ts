import { createPublicKey, generateKeyPair, type JsonWebKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { minRsaBits, rsaProblem } from '../../../shared/rsa-key.ts';
import type { SigningAlgorithm } from './signing-key.ts';

const generate = promisify(generateKeyPair);
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
    return 'This is not a public key in PEM or JWK format. A PEM begins with "-----BEGIN PUBLIC KEY-----".';
  }
  const publicKey = pemOf(read);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = read;
  if (type === 'ed25519') return { publicKey, algorithm: 'EdDSA' };
  if (type === 'ec' && details.namedCurve === 'prime256v1') return { publicKey, algorithm: 'ES256' };
  if (type !== 'rsa')
    return 'This type of key is not supported. Use EC with the curve P-256, Ed25519 or RSA.';
  return rsaProblem(read) ?? { publicKey, algorithm: 'RS256' };
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}
