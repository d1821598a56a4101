import { randomBytes, randomUUID } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Evenly distributed over 0-9, A-Z, a-z: 22 characters have over 130 bits. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 = 4 * 62: higher bytes would make some characters more likely.
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}

/** Appends 22 base62 characters to the prefix of a noun (`li`, `vi`, `watermark_`). */
export function newId(prefix: string): string {
  return prefix + randomBase62(22);
}

export function newUuid(): string {
  return randomUUID();
}
