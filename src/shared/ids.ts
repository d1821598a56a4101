import { randomBytes, randomUUID } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` random characters of 0-9, A-Z, a-z, evenly distributed (62^22 is over 130 bits). */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 = 4 * 62: bytes above it would make some characters likelier than others.
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** A new resource id: the noun's prefix (`li`, `vi`, `watermark_`) and 22 base62 characters. */
export function newId(prefix: string): string {
  return prefix + randomBase62(22);
}

/** A new UUID v4: the form of stream keys and private tokens. */
export function newUuid(): string {
  return randomUUID();
}
