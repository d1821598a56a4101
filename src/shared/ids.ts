import { randomFillSync, randomUUID } from 'node:crypto';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** One call of the generator takes as long as the rest of an id. */
const pool = new Uint8Array(2_048);
let used = pool.length;

/** Evenly distributed over 0-9, A-Z, a-z: 22 characters have over 130 bits. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    // 248 = 4 * 62: higher bytes would make some characters more likely.
    if (byte < 248) text += base62[byte % 62];
  }
  return text;
}

/** Reads from the pool, and forgets what it returns. */
function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool[used]!;
  pool[used] = 0;
  used += 1;
  return byte;
}

/** Appends 22 base62 characters to the prefix of a noun (`li`, `vi`, `watermark_`). */
export function newId(prefix: string): string {
  return prefix + randomBase62(22);
}

export function newUuid(): string {
  return randomUUID();
}
