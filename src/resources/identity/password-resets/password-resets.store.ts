import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import { hashOfSecret } from '../accounts/account.ts';

/** An open link with which a user sets a new password. */
export interface PasswordReset {
  readonly userId: string;
  readonly email: EmailAddress;
  /** The user has proved the email address. */
  readonly isVerified: boolean;
  readonly expiresAtMs: number;
}

/** Stores only hashes of tokens. */
export class PasswordResetsStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  async findByToken(token: string, nowMs: number): Promise<PasswordReset | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('password_resets as r')
        .innerJoin('users as u', 'u.id', 'r.user_id')
        .select(['r.user_id as userId', 'u.email', 'u.verified_at_ms', 'r.expires_at_ms as expiresAtMs'])
        .where('r.token_hash', '=', hashOfSecret(token))
        .where('r.expires_at_ms', '>', nowMs),
    );
    if (row === undefined) return undefined;
    const { verified_at_ms: verifiedAtMs, ...reset } = row;
    return { ...reset, isVerified: verifiedAtMs !== null };
  }

  /** Replaces an earlier one of the user. */
  async add(reset: { userId: string; token: string; expiresAtMs: number }): Promise<void> {
    const link = { token_hash: hashOfSecret(reset.token), expires_at_ms: reset.expiresAtMs };
    await this.#database.run(
      this.#database.queries
        .insertInto('password_resets')
        .values({ user_id: reset.userId, ...link })
        .onConflict(conflict => conflict.column('user_id').doUpdateSet(link)),
    );
  }

  /** Returns false when it was used, replaced or revoked, or has expired. */
  async use(
    { userId, token, nowMs }: { userId: string; token: string; nowMs: number },
    transaction: Transaction,
  ): Promise<boolean> {
    const used = transaction.queries
      .deleteFrom('password_resets')
      .where('user_id', '=', userId)
      .where('token_hash', '=', hashOfSecret(token))
      .where('expires_at_ms', '>', nowMs);
    return (await transaction.run(used)) > 0;
  }

  async removeOfUser(userId: string, transaction: Transaction): Promise<void> {
    await transaction.run(transaction.queries.deleteFrom('password_resets').where('user_id', '=', userId));
  }

  removeExpired(nowMs: number, limit: number): Promise<number> {
    const { queries } = this.#database;
    const expired = queries
      .selectFrom('password_resets')
      .select('user_id')
      .where('expires_at_ms', '<=', nowMs)
      .limit(limit);
    return this.#database.run(queries.deleteFrom('password_resets').where('user_id', 'in', expired));
  }
}
