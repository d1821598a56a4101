import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import { hashOfSecret } from '../accounts/account.ts';

export interface AttemptWindow {
  readonly attempts: number;
  readonly endsAtMs: number;
}

/** Counts per key, on all servers together. Stores only hashes of the keys. */
export class SignInAttemptsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#database.transaction(work);
  }

  /** Begins a window of `windowMs` when the key has none. Others that count the key wait for the commit. */
  async count(
    key: string,
    { nowMs, windowMs }: { nowMs: number; windowMs: number },
    transaction: Transaction,
  ): Promise<AttemptWindow> {
    const row = await transaction.first(
      transaction.queries
        .insertInto('sign_in_attempts')
        .values({ key_hash: hashOfSecret(key), attempts: 1, ends_at_ms: nowMs + windowMs })
        .onConflict(conflict =>
          conflict.column('key_hash').doUpdateSet(({ eb, lit, ref, case: when }) => {
            const hasEnded = eb('sign_in_attempts.ends_at_ms', '<=', nowMs);
            return {
              attempts: when()
                .when(hasEnded)
                .then(lit(1))
                .else(eb('sign_in_attempts.attempts', '+', 1))
                .end(),
              ends_at_ms: when()
                .when(hasEnded)
                .then(ref('excluded.ends_at_ms'))
                .else(ref('sign_in_attempts.ends_at_ms'))
                .end(),
            };
          }),
        )
        .returning(['attempts', 'ends_at_ms as endsAtMs']),
    );
    return row!;
  }

  async uncount(key: string, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('sign_in_attempts')
        .set(({ eb }) => ({ attempts: eb('attempts', '-', 1) }))
        .where('key_hash', '=', hashOfSecret(key))
        .where('attempts', '>', 0),
    );
  }

  async forget(key: string, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries.deleteFrom('sign_in_attempts').where('key_hash', '=', hashOfSecret(key)),
    );
  }

  async isKnown(key: string, nowMs: number, transaction: Transaction): Promise<boolean> {
    const known = transaction.queries
      .selectFrom('known_sign_ins')
      .select('ends_at_ms')
      .where('key_hash', '=', hashOfSecret(key))
      .where('ends_at_ms', '>', nowMs);
    return (await transaction.first(known)) !== undefined;
  }

  async setKnown(key: string, endsAtMs: number, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .insertInto('known_sign_ins')
        .values({ key_hash: hashOfSecret(key), ends_at_ms: endsAtMs })
        .onConflict(conflict => conflict.column('key_hash').doUpdateSet({ ends_at_ms: endsAtMs })),
    );
  }

  async removeExpired(nowMs: number): Promise<number> {
    const { queries } = this.#database;
    let removed = 0;
    for (const table of ['sign_in_attempts', 'known_sign_ins'] as const) {
      removed += await removeInBatches(limit => {
        const expired = queries.selectFrom(table).select('key_hash').where('ends_at_ms', '<=', nowMs);
        return this.#database.run(queries.deleteFrom(table).where('key_hash', 'in', expired.limit(limit)));
      });
    }
    return removed;
  }
}
