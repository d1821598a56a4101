import { randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** RFC 4226, 4, recommends 160 bits. */
export const secretBytes = 20;
export const recoveryCodeCount = 10;
const issuer = 'Millrace';
const periodSeconds = 30;
/** Accepts the codes before and after the current one, for clocks that are wrong (RFC 6238, 5.2). */
const window = 1;
/** Alphabet without letters that look alike. */
const recoveryAlphabet = '23456789abcdefghjkmnpqrstuvwxyz';
const recoveryGroups = { count: 4, letters: 4 } as const;

export interface Enrollment {
  /** Secret in Base32, to be typed. */
  readonly secret: string;
  /** URI for a QR code. */
  readonly uri: string;
}

export function enrollmentOf(secret: Buffer, email: string): Enrollment {
  const totp = totpOf(secret, email);
  return { secret: totp.secret.base32, uri: totp.toString() };
}

/** Returns the number of the 30 seconds since 1970 that the code is for, undefined if it is wrong. */
export function stepOfCode(secret: Buffer, code: string, nowMs: number): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: nowMs, window });
  return delta === null ? undefined : TOTP.counter({ period: periodSeconds, timestamp: nowMs }) + delta;
}

/** Has 79 random bits, so that a fast hash protects it. */
export function newRecoveryCode(): string {
  const letter = () => recoveryAlphabet[randomInt(recoveryAlphabet.length)];
  const group = () => Array.from({ length: recoveryGroups.letters }, letter).join('');
  return Array.from({ length: recoveryGroups.count }, group).join('-');
}

/** Accepts other cases and separators. */
export function canonicalRecoveryCode(code: string): string {
  return code.toLowerCase().replaceAll(/[^0-9a-z]/g, '');
}

function totpOf(secret: Buffer, label?: string): TOTP {
  return new TOTP({
    issuer,
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
  });
}
