import type { Database } from '../../store/database.ts';
import { hashOfSecret, type KeyOwner } from '../accounts/account.ts';
import { ownerColumns, ownerFrom, ownerJoins } from '../accounts/accounts.store.ts';

type TokenTable = 'access_tokens' | 'refresh_tokens';
type OwnerRow = Parameters<typeof ownerFrom>[0];

/** Access and refresh tokens, of which only hashes are kept. They outlive a restart, and open nothing once their API key is revoked. */
export class TokensStore {
  readonly #database: Database;
  readonly #accessOwner;
  readonly #refreshOwner;

  constructor(database: Database) {
    this.#database = database;
    this.#accessOwner = database.sqlite.prepare<[Buffer, number], OwnerRow>(ownerSql('access_tokens'));
    this.#refreshOwner = database.sqlite.prepare<[Buffer, number], OwnerRow>(ownerSql('refresh_tokens'));
  }

  /** Who an access token was made for, unless it expired. */
  ownerOfAccessToken(token: string, nowMs: number): KeyOwner | undefined {
    const row = this.#accessOwner.get(hashOfSecret(token), nowMs);
    return row === undefined ? undefined : ownerFrom(row);
  }

  /** Who a refresh token was made for, unless it expired. */
  ownerOfRefreshToken(token: string, nowMs: number): KeyOwner | undefined {
    const row = this.#refreshOwner.get(hashOfSecret(token), nowMs);
    return row === undefined ? undefined : ownerFrom(row);
  }

  /** Adds a token. */
  add(table: TokenTable, token: { text: string; apiKeyId: string; expiresAtMs: number }): void {
    this.#database.run(
      this.#database.queries.insertInto(table).values({
        token_hash: hashOfSecret(token.text),
        api_key_id: token.apiKeyId,
        expires_at_ms: token.expiresAtMs,
      }),
    );
  }

  /** Removes a refresh token, so that it cannot be used a second time. */
  removeRefreshToken(token: string): void {
    this.#database.run(
      this.#database.queries.deleteFrom('refresh_tokens').where('token_hash', '=', hashOfSecret(token)),
    );
  }

  /** The API key that follows in the order of ids. */
  nextKeyId(apiKeyId: string): string | undefined {
    const { queries } = this.#database;
    const next = queries
      .selectFrom('api_keys')
      .select('id')
      .where('id', '>', apiKeyId)
      .orderBy('id')
      .limit(1);
    return this.#database.first(next)?.id;
  }

  /** Removes refresh tokens of a key past the newest `kept`, no more than `maxRestreams`; how many those were. */
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

  /**
   * Removes tokens that expired or whose key was revoked, and then such keys, no more than `maxRestreams` rows of each kind.
   *
   * @returns how many rows that were; 0 when none is left
   */
  removeInvalid(nowMs: number, limit: number): number {
    const { queries } = this.#database;
    return this.#database.transaction(() => {
      let removed = 0;
      for (const table of ['access_tokens', 'refresh_tokens'] as const) {
        const expired = queries
          .selectFrom(table)
          .select('token_hash')
          .where('expires_at_ms', '<=', nowMs)
          .limit(limit);
        removed += this.#database.run(queries.deleteFrom(table).where('token_hash', 'in', expired));
        const keys = queries.selectFrom('api_keys').select('id').where('revoked_at_ms', 'is not', null);
        const revoked = queries
          .selectFrom(table)
          .select('token_hash')
          .where('api_key_id', 'in', keys)
          .limit(limit);
        removed += this.#database.run(queries.deleteFrom(table).where('token_hash', 'in', revoked));
      }
      if (removed > 0) return removed;
      const keys = queries.deleteFrom('api_keys').where('revoked_at_ms', 'is not', null);
      return this.#database.run(keys);
    });
  }
}

function ownerSql(table: TokenTable): string {
  return `SELECT ${ownerColumns} FROM ${table} t JOIN api_keys k ON k.id = t.api_key_id ${ownerJoins}
    WHERE t.token_hash = ? AND t.expires_at_ms > ?`;
}
