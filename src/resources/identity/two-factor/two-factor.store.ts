import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { hashOfSecret } from '../accounts/account.ts';
import { canonicalRecoveryCode } from './codes.ts';

interface TwoFactor {
  readonly secret: Buffer;
  /** Undefined until a code was confirmed. */
  readonly enabledAtMs: number | undefined;
}

/** Change it within `AccountsStore.changeAccess`. */
export class TwoFactorStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(userId: string, connection: Connection = this.#database): Promise<TwoFactor | undefined> {
    const row = await connection.first(
      connection.queries
        .selectFrom('two_factor')
        .select(['secret', 'enabled_at_ms'])
        .where('user_id', '=', userId),
    );
    return row && { secret: row.secret, enabledAtMs: row.enabled_at_ms ?? undefined };
  }

  async countRecoveryCodes(userId: string): Promise<number> {
    const codes = this.#database.queries
      .selectFrom('recovery_codes')
      .select('code_hash')
      .where('user_id', '=', userId);
    return (await this.#database.all(codes)).length;
  }

  /** Replaces a secret that was not confirmed. Returns false when one is enabled. */
  async begin(
    { userId, secret, atMs }: { userId: string; secret: Buffer; atMs: number },
    transaction: Transaction,
  ): Promise<boolean> {
    const pending = { secret, last_step: 0, created_at_ms: atMs };
    const changed = await transaction.run(
      transaction.queries
        .insertInto('two_factor')
        .values({ user_id: userId, ...pending, enabled_at_ms: null })
        .onConflict(conflict =>
          conflict.column('user_id').doUpdateSet(pending).where('two_factor.enabled_at_ms', 'is', null),
        ),
    );
    return changed > 0;
  }

  async enable(userId: string, atMs: number, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('two_factor')
        .set({ enabled_at_ms: atMs })
        .where('user_id', '=', userId),
    );
  }

  /** Returns false when the code of this step or a later one was used. */
  async useStep(userId: string, step: number, transaction: Transaction): Promise<boolean> {
    const changed = await transaction.run(
      transaction.queries
        .updateTable('two_factor')
        .set({ last_step: step })
        .where('user_id', '=', userId)
        .where('last_step', '<', step),
    );
    return changed > 0;
  }

  async setRecoveryCodes(userId: string, codes: readonly string[], transaction: Transaction): Promise<void> {
    await this.#removeRecoveryCodes(userId, transaction);
    const rows = codes.map(code => ({ user_id: userId, code_hash: hashOf(code) }));
    await transaction.run(transaction.queries.insertInto('recovery_codes').values(rows));
  }

  /** Returns false when the code is wrong, or was used. */
  async useRecoveryCode(userId: string, code: string, transaction: Transaction): Promise<boolean> {
    const removed = await transaction.run(
      transaction.queries
        .deleteFrom('recovery_codes')
        .where('user_id', '=', userId)
        .where('code_hash', '=', hashOf(code)),
    );
    return removed > 0;
  }

  async remove(userId: string, transaction: Transaction): Promise<void> {
    await this.#removeRecoveryCodes(userId, transaction);
    await transaction.run(transaction.queries.deleteFrom('two_factor').where('user_id', '=', userId));
  }

  async #removeRecoveryCodes(userId: string, transaction: Transaction): Promise<void> {
    await transaction.run(transaction.queries.deleteFrom('recovery_codes').where('user_id', '=', userId));
  }
}

function hashOf(code: string): Buffer {
  return hashOfSecret(canonicalRecoveryCode(code));
}
