import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP's recommendation for scrypt: 32 MiB and about 60 ms per guess. */
const scryptCost = { N: 2 ** 15, r: 8, p: 1 } as const;
const maxMemoryBytes = 128 * 1_024 * 1_024;
const keyBytes = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Takes as long to verify as any other, so that timing does not reveal which users exist. */
export const dummyPasswordHash = formatHash(Buffer.alloc(16), Buffer.alloc(keyBytes));

/** Returns `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password.normalize('NFC'), salt, keyBytes, {
    ...scryptCost,
    maxmem: maxMemoryBytes,
  });
  return formatHash(salt, key);
}

function formatHash(salt: Buffer, key: Buffer): string {
  return [
    'scrypt',
    scryptCost.N,
    scryptCost.r,
    scryptCost.p,
    salt.toString('base64url'),
    key.toString('base64url'),
  ].join('$');
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const [scheme, N, r, p, salt = '', key = ''] = stored.split('$');
  if (scheme !== 'scrypt') return false;
  const expected = Buffer.from(key, 'base64url');
  const options = { N: Number(N), r: Number(r), p: Number(p), maxmem: maxMemoryBytes };
  const actual = await derive(
    password.normalize('NFC'),
    Buffer.from(salt, 'base64url'),
    expected.length,
    options,
  );
  return timingSafeEqual(actual, expected);
}
