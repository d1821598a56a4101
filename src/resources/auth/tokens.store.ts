import type { Database } from '../../store/database.ts';
import type { Bound, PreparedQuery } from '../../store/prepared-query.ts';
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
      database.prepare(({ hash, nowMs }: Bound<{ hash: Buffer; nowMs: number }>) =>
        selectKeyOwner(database.queries)
          .innerJoin(`${table} as t`, 't.api_key_id', 'k.id')
          .where('t.token_hash', '=', hash)
          .where('t.expires_at_ms', '>', nowMs),
      );
    this.#owners = { access_tokens: ownerOf('access_tokens'), refresh_tokens: ownerOf('refresh_tokens') };
  }

  findOwner(table: TokenTable, token: string, nowMs: number): KeyOwner | undefined {
    const row = this.#owners[table].first({ hash: hashOfSecret(token), nowMs });
    return row === undefined ? undefined : ownerFrom(row);
  }

  add(table: TokenTable, token: { text: string; apiKeyId: string; expiresAtMs: number }): void {
    this.#database.run(
      this.#database.queries.insertInto(table).values({
        token_hash: hashOfSecret(token.text),
        api_key_id: token.apiKeyId,
        expires_at_ms: token.expiresAtMs,
      }),
    );
  }

  removeRefreshToken(token: string): void {
    this.#database.run(
      this.#database.queries.deleteFrom('refresh_tokens').where('token_hash', '=', hashOfSecret(token)),
    );
  }

  /** Keeps the newest `kept`. Returns the number of removed tokens. */
  removeOldest(apiKeyId: string, kept: number, limit: number): number {
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
  removeInvalid(nowMs: number, limit: number): number {
    const { queries } = this.#database;
    const revokedKeys = queries.selectFrom('api_keys').select('id').where('revoked_at_ms', 'is not', null);
    let removed = 0;
    for (const table of ['access_tokens', 'refresh_tokens'] as const) {
      const tokens = queries.selectFrom(table).select('token_hash').limit(limit);
      for (const invalid of [
        tokens.where('expires_at_ms', '<=', nowMs),
        tokens.where('api_key_id', 'in', revokedKeys),
      ]) {
        removed += this.#database.run(queries.deleteFrom(table).where('token_hash', 'in', invalid));
      }
    }
    return removed;
  }
}
