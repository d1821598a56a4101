import type { Database } from '../../store/database.ts';
import { hashOfSecret, type KeyOwner } from '../accounts/account.ts';
import { ownerColumns, ownerFrom, ownerJoins } from '../accounts/accounts.store.ts';

type TokenTable = 'access_tokens' | 'refresh_tokens';
type OwnerRow = Parameters<typeof ownerFrom>[0];

/** Access and refresh tokens, of which only hashes are kept. They outlive a restart, and end with their API key. */
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

  /** Removes what expired; the number of tokens. */
  removeExpired(nowMs: number): number {
    return (['access_tokens', 'refresh_tokens'] as const)
      .map(table =>
        this.#database.run(this.#database.queries.deleteFrom(table).where('expires_at_ms', '<=', nowMs)),
      )
      .reduce((sum, count) => sum + count, 0);
  }
}

function ownerSql(table: TokenTable): string {
  return `SELECT ${ownerColumns} FROM ${table} t JOIN api_keys k ON k.id = t.api_key_id ${ownerJoins}
    WHERE t.token_hash = ? AND t.expires_at_ms > ?`;
}
