import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';
import type { Passkey } from './passkey.ts';

export class PasskeysStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(userId: string, passkeyId: string): Promise<Passkey | undefined> {
    const row = await this.#database.first(this.#ofUser(userId).selectAll().where('id', '=', passkeyId));
    return row && passkeyFrom(row);
  }

  async findByCredential(
    credentialId: Buffer,
  ): Promise<{ passkey: Passkey; email: EmailAddress } | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('passkeys')
        .innerJoin('users', 'users.id', 'passkeys.user_id')
        .selectAll('passkeys')
        .select('users.email')
        .where('credential_id', '=', credentialId),
    );
    return row && { passkey: passkeyFrom(row), email: row.email };
  }

  async all(
    userId: string,
    direction: 'asc' | 'desc' = 'desc',
    connection: Connection = this.#database,
  ): Promise<Passkey[]> {
    const rows = await connection.all(
      this.#ofUser(userId).selectAll().orderBy('created_at_ms', direction).orderBy('id', direction),
    );
    return rows.map(passkeyFrom);
  }

  /** Run it while nothing else changes the access of the account, because it counts. */
  async add(
    passkey: Passkey,
    maxPasskeys: number,
    transaction: Transaction,
  ): Promise<'added' | 'limit' | 'known'> {
    const others = await transaction.all(this.#ofUser(passkey.userId).select('id').limit(maxPasskeys));
    if (others.length >= maxPasskeys) return 'limit';
    const added = await transaction.run(
      transaction.queries
        .insertInto('passkeys')
        .values({
          id: passkey.passkeyId,
          user_id: passkey.userId,
          name: passkey.name,
          credential_id: passkey.credentialId,
          public_key: passkey.publicKey,
          counter: passkey.counter,
          transports: JSON.stringify(passkey.transports),
          created_at_ms: passkey.createdAtMs,
          last_used_at_ms: null,
        })
        .onConflict(conflict => conflict.column('credential_id').doNothing()),
    );
    return added > 0 ? 'added' : 'known';
  }

  async rename({ passkeyId }: Passkey, name: string): Promise<void> {
    await this.#database.run(
      this.#database.queries.updateTable('passkeys').set({ name }).where('id', '=', passkeyId),
    );
  }

  /** Returns false when it was deleted, or used by another request since it was read. */
  async recordUse(
    { passkeyId, counter }: Passkey,
    { newCounter, atMs }: { newCounter: number; atMs: number },
    transaction: Transaction,
  ): Promise<boolean> {
    const changed = await transaction.run(
      transaction.queries
        .updateTable('passkeys')
        .set({ counter: newCounter, last_used_at_ms: atMs })
        .where('id', '=', passkeyId)
        .where('counter', '=', counter),
    );
    return changed > 0;
  }

  async remove({ passkeyId }: Passkey): Promise<void> {
    await this.#database.run(this.#database.queries.deleteFrom('passkeys').where('id', '=', passkeyId));
  }

  /** Returns the number of removed passkeys. */
  removeOfUser(userId: string, kept: readonly string[], transaction: Transaction): Promise<number> {
    const all = transaction.queries.deleteFrom('passkeys').where('user_id', '=', userId);
    return transaction.run(kept.length === 0 ? all : all.where('id', 'not in', kept));
  }

  #ofUser(userId: string) {
    return this.#database.queries.selectFrom('passkeys').where('user_id', '=', userId);
  }
}

function passkeyFrom(row: Row<'passkeys'>): Passkey {
  return {
    passkeyId: row.id,
    userId: row.user_id,
    name: row.name,
    credentialId: row.credential_id,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports) as string[],
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}
