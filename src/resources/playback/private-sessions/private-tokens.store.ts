import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { Connection } from '../../../store/connection.ts';
import { openServerSecret } from '../../../store/server-secret.ts';

/** Tokens count seconds from 2024, so that 32 bits last until 2160. */
const epochMs = Date.UTC(2024, 0, 1);
const secretName = 'private-tokens';
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Tokens look like a UUID v4 and are signed, so that showing a resource stores nothing: 4 bytes of time, 28
 * random bits, and 62 bits of HMAC-SHA256 over these and the resource's id.
 */
export class PrivateTokens {
  readonly #key: Buffer;
  readonly #clock: Clock;

  constructor(key: Buffer, clock: Clock = systemClock) {
    this.#key = key;
    this.#clock = clock;
  }

  /** Creates this installation's key when it is missing. */
  static async open(database: Connection, clock: Clock = systemClock): Promise<PrivateTokens> {
    return new PrivateTokens(await openServerSecret(secretName, database), clock);
  }

  mint(resourceId: string): string {
    const bytes = randomBytes(16);
    bytes.writeUInt32BE(Math.floor((this.#clock.nowMs() - epochMs) / 1_000) >>> 0);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    this.#sign(bytes, resourceId);
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  /** Undefined when the token was not minted for this resource. */
  mintedAtMs(token: string, resourceId: string): number | undefined {
    if (!uuidPattern.test(token)) return undefined;
    const bytes = Buffer.from(token.replaceAll('-', ''), 'hex');
    const expected = Buffer.from(bytes);
    this.#sign(expected, resourceId);
    return timingSafeEqual(bytes, expected) ? epochMs + bytes.readUInt32BE() * 1_000 : undefined;
  }

  /** 43 characters of base64url, which only this server can compute. */
  sessionTokenFor(token: string, resourceId: string): string | undefined {
    if (this.mintedAtMs(token, resourceId) === undefined) return undefined;
    return createHmac('sha256', this.#key).update(`session ${resourceId} ${token}`).digest('base64url');
  }

  /** Overwrites the second half with the signature of the first, but for the two bits that a UUID fixes. */
  #sign(bytes: Buffer, resourceId: string): void {
    const digest = createHmac('sha256', this.#key).update(resourceId).update(bytes.subarray(0, 8)).digest();
    digest.copy(bytes, 8, 0, 8);
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  }
}
