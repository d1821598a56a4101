import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { type Bound, type PreparedQuery, prepareQuery } from '../../../store/prepared-query.ts';
import { hashOfSecret, type KeyOwner } from '../accounts/account.ts';
import { ownerFrom, selectKeyOwner } from '../accounts/accounts.store.ts';

type TokenTable = 'access_tokens' | 'refresh_tokens';
type OwnerRow = Parameters<typeof ownerFrom>[0];
type OwnerQuery = PreparedQuery<{ hash: Buffer; nowMs: number }, OwnerRow>;

/** Stores only hashes. Tokens survive a restart and end with their API key. */
export class TokensStore {
  readonly #database: Database;
  readonly #owners: Readonly<Record<TokenTable, OwnerQuery>>;

  constructor(database: Database) {
    this.#database = database;
    const ownerOf = (table: TokenTable): OwnerQuery =>
      prepareQuery(({ hash, nowMs }: Bound<{ hash: Buffer; nowMs: number }>) =>
        selectKeyOwner(database.queries)
          // Both tables have the same columns.
          .innerJoin(`${table as 'access_tokens'} as t`, 't.api_key_id', 'k.id')
          .where('t.token_hash', '=', hash)
          .where('t.expires_at_ms', '>', nowMs),
      );
    this.#owners = { access_tokens: ownerOf('access_tokens'), refresh_tokens: ownerOf('refresh_tokens') };
  }

  async findOwner(table: TokenTable, token: string, nowMs: number): Promise<KeyOwner | undefined> {
    const row = await this.#database.first(this.#owners[table]({ hash: hashOfSecret(token), nowMs }));
    return row === undefined ? undefined : ownerFrom(row);
  }

  async add(
    table: TokenTable,
    token: { text: string; apiKeyId: string; expiresAtMs: number },
    connection: Connection = this.#database,
  ): Promise<void> {
    await connection.run(
      connection.queries.insertInto(table).values({
        token_hash: hashOfSecret(token.text),
        api_key_id: token.apiKeyId,
        expires_at_ms: token.expiresAtMs,
      }),
    );
  }

  /** Returns false when another request was faster. */
  async removeRefreshToken(token: string, transaction: Transaction): Promise<boolean> {
    const removed = await transaction.run(
      transaction.queries.deleteFrom('refresh_tokens').where('token_hash', '=', hashOfSecret(token)),
    );
    return removed > 0;
  }

  /** Keeps the newest `kept`. Returns the number of removed tokens. */
  removeOldest(apiKeyId: string, kept: number, limit: number): Promise<number> {
    const { queries } = this.#database;
    const oldest = queries
      .selectFrom('refresh_tokens')
      .select('token_hash')
      .where('api_key_id', '=', apiKeyId)
      .orderBy('expires_at_ms', 'desc')
      .limit(limit)
      .offset(kept);
    return this.#database.run(queries.deleteFrom('refresh_tokens').where('token_hash', 'in', oldest));
  }

  /** Removes expired tokens and those of revoked keys, at most `limit` of each. Returns their number. */
  async removeInvalid(
    nowMs: number,
    limit: number,
    connection: Connection = this.#database,
  ): Promise<number> {
    const { queries } = connection;
    const revokedKeys = queries.selectFrom('api_keys').select('id').where('revoked_at_ms', 'is not', null);
    let removed = 0;
    for (const table of ['access_tokens', 'refresh_tokens'] as const) {
      const tokens = queries.selectFrom(table).select('token_hash').limit(limit);
      for (const invalid of [
        tokens.where('expires_at_ms', '<=', nowMs),
        tokens.where('api_key_id', 'in', revokedKeys),
      ]) {
        removed += await connection.run(queries.deleteFrom(table).where('token_hash', 'in', invalid));
      }
    }
    return removed;
  }
}
