import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';

/** A person as a provider knows them, forever. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

export class IdentitiesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async findUser({ issuer, subject }: Identity): Promise<{ email: EmailAddress } | undefined> {
    return this.#database.first(
      this.#database.queries
        .selectFrom('identities')
        .innerJoin('users', 'users.id', 'identities.user_id')
        .select('users.email')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject),
    );
  }

  /** Returns false when the user or the identity is linked with another one. */
  async link(
    { issuer, subject }: Identity,
    { userId, createdAtMs }: { userId: string; createdAtMs: number },
    transaction: Transaction,
  ): Promise<boolean> {
    const { queries } = transaction;
    await transaction.run(
      queries
        .insertInto('identities')
        .values({ issuer, subject, user_id: userId, created_at_ms: createdAtMs })
        .onConflict(conflict => conflict.doNothing()),
    );
    const linked = await transaction.first(
      queries
        .selectFrom('identities')
        .select('user_id')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject),
    );
    return linked?.user_id === userId;
  }

  /** Time of the latest linked identity of the user; undefined when there is none. */
  async linkedAtMs(userId: string): Promise<number | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('identities')
        .select('created_at_ms')
        .where('user_id', '=', userId)
        .orderBy('created_at_ms', 'desc')
        .limit(1),
    );
    return row?.created_at_ms;
  }

  async unlink(userId: string): Promise<void> {
    await this.#database.run(this.#database.queries.deleteFrom('identities').where('user_id', '=', userId));
  }
}
