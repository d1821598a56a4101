import { createECDH, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { GROUP, type Group } from './handshake-messages.ts';

export interface KeyAgreement {
  readonly publicKey: Buffer;
  /** Throws for a key that is no point of the curve. */
  secret(peerPublicKey: Buffer): Buffer;
}

/** RFC 8422, 5.4. */
export function createKeyAgreement(group: Group): KeyAgreement {
  if (group === GROUP.x25519) return x25519();
  const ecdh = createECDH('prime256v1');
  return { publicKey: ecdh.generateKeys(), secret: peer => ecdh.computeSecret(peer) };
}

function x25519(): KeyAgreement {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return {
    publicKey: Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'),
    secret: peer => diffieHellman({ privateKey, publicKey: importX25519(peer) }),
  };
}

function importX25519(raw: Buffer): KeyObject {
  const key = { kty: 'OKP', crv: 'X25519', x: raw.toString('base64url') };
  return createPublicKey({ key, format: 'jwk' });
}
