import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../shared/clock.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import { openServerSecret } from '../../../store/server-secret.ts';
import { hashOfSecret } from '../accounts/account.ts';

const usualLifetimeMs = 5 * 60_000;
const randomLength = 16;
const expiryLength = 8;

/**
 * Challenges for sign-ins: 16 random bytes, the time of expiry, and an HMAC-SHA256 of both and the purpose. Only used ones are
 * stored, so that asking for a challenge writes nothing.
 */
export class Challenges {
  readonly #database: Database;
  readonly #clock: Clock;
  #key: Promise<Buffer> | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async create(purpose: string, lifetimeMs = usualLifetimeMs): Promise<Uint8Array<ArrayBuffer>> {
    const expiry = Buffer.alloc(expiryLength);
    expiry.writeBigUInt64BE(BigInt(this.#clock.nowMs() + lifetimeMs));
    const signed = Buffer.concat([randomBytes(randomLength), expiry]);
    return new Uint8Array(Buffer.concat([signed, await this.#sign(signed, purpose)]));
  }

  /** @param challenge in base64url */
  async isValid(challenge: string, purpose: string): Promise<boolean> {
    const bytes = Buffer.from(challenge, 'base64url');
    const signed = bytes.subarray(0, randomLength + expiryLength);
    const signature = bytes.subarray(signed.length);
    const expected = await this.#sign(signed, purpose);
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return false;
    return this.#clock.nowMs() < expiryOf(bytes);
  }

  /** Returns false when it was used before. @param challenge a valid one, in base64url */
  async use(challenge: string, transaction: Transaction): Promise<boolean> {
    const bytes = Buffer.from(challenge, 'base64url');
    const used = { challenge_hash: hashOfSecret(bytes.toString('hex')), expires_at_ms: expiryOf(bytes) };
    const added = await transaction.run(
      transaction.queries
        .insertInto('used_challenges')
        .values(used)
        .onConflict(conflict => conflict.column('challenge_hash').doNothing()),
    );
    return added > 0;
  }

  removeExpired(): Promise<number> {
    const { queries } = this.#database;
    return removeInBatches(limit => {
      const expired = queries
        .selectFrom('used_challenges')
        .select('challenge_hash')
        .where('expires_at_ms', '<=', this.#clock.nowMs())
        .limit(limit);
      return this.#database.run(queries.deleteFrom('used_challenges').where('challenge_hash', 'in', expired));
    });
  }

  async #sign(signed: Buffer, purpose: string): Promise<Buffer> {
    this.#key ??= openServerSecret('passkey-challenges', this.#database).catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac('sha256', await this.#key)
      .update(signed)
      .update(purpose)
      .digest();
  }
}

function expiryOf(bytes: Buffer): number {
  return Number(bytes.readBigUInt64BE(randomLength));
}
