import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type JWTPayload, SignJWT } from 'jose';
import type { VerificationKey } from '../../src/delivery/signed-tokens.ts';

export interface TestSigningKey extends VerificationKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

export function newTestKey(
  id: string,
  projectId: string,
  algorithm: VerificationKey['algorithm'] = 'ES256',
): TestSigningKey {
  const pair = newPair(algorithm);
  return { id, projectId, algorithm, ...pair };
}

function newPair(algorithm: VerificationKey['algorithm']) {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** @param header overrides what belongs to the key */
export function signToken(
  { id, algorithm, privateKey }: Pick<TestSigningKey, 'id' | 'algorithm' | 'privateKey'>,
  payload: JWTPayload,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid: id, ...header }).sign(privateKey);
}
