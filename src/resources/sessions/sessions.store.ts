import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';
import { hashOfSecret } from '../accounts/account.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import { SecretCache } from '../accounts/secret-cache.ts';
import { type ListedSession, maxSessionsPerUser, type Session, type User } from './session.ts';

interface SessionRow {
  id: string;
  user_id: string;
  email: string;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  account_id: string;
  account_created_at_ms: number;
  is_upgraded: number;
  is_suspended: number;
  is_operator: number;
  sandbox_id: string;
  production_id: string;
}

const selectSession = `
  SELECT s.id, s.user_id, u.email, s.created_at_ms, s.last_used_at_ms, s.expires_at_ms, a.id AS account_id,
    a.created_at_ms AS account_created_at_ms, a.is_upgraded, a.is_suspended, a.is_operator,
    sandbox.id AS sandbox_id, production.id AS production_id
  FROM sessions s JOIN users u ON u.id = s.user_id JOIN accounts a ON a.id = u.account_id
  JOIN projects sandbox ON sandbox.account_id = a.id AND sandbox.environment = 'sandbox'
  JOIN projects production ON production.account_id = a.id AND production.environment = 'production'`;

/**
 * Who is signed in, and those who may. Of the secrets in cookies only hashes are kept. One for a server: it remembers sessions for
 * a moment, and forgets them at every change made through it or through the {@link AccountsStore}.
 */
export class SessionsStore {
  readonly #database: Database;
  readonly #accounts: Pick<AccountsStore, 'changes'>;
  readonly #cache = new SecretCache<Session>();
  /** Of the accounts, when the first of the sessions was remembered. */
  #cachedVersion = 0;
  readonly #bySecret;
  readonly #byId;
  readonly #touch;

  constructor(database: Database, accounts: Pick<AccountsStore, 'changes'>) {
    this.#database = database;
    this.#accounts = accounts;
    this.#bySecret = database.sqlite.prepare<[Buffer], SessionRow>(
      `${selectSession} WHERE s.secret_hash = ?`,
    );
    this.#byId = database.sqlite.prepare<[string], SessionRow>(`${selectSession} WHERE s.id = ?`);
    this.#touch = database.sqlite.prepare<[number, number, string]>(
      'UPDATE sessions SET last_used_at_ms = ?, expires_at_ms = ? WHERE id = ?',
    );
  }

  /** The session that a cookie's secret opens, unless it expired. */
  findBySecret(secret: string, nowMs: number): Session | undefined {
    if (this.#cachedVersion !== this.#accounts.changes) this.#clearCache();
    const session = this.#cache.getOrLoad(secret, hash => {
      const row = this.#bySecret.get(hash);
      return row === undefined ? undefined : sessionFrom(row);
    });
    return session !== undefined && nowMs < session.expiresAtMs ? session : undefined;
  }

  /** A session as it is now. */
  find(sessionId: string): Session | undefined {
    const row = this.#byId.get(sessionId);
    return row === undefined ? undefined : sessionFrom(row);
  }

  /** Adds a session, and removes those of its user that are too many; its id. */
  add(session: {
    userId: string;
    secret: string;
    atMs: number;
    expiresAtMs: number;
    address: string;
    userAgent: string | undefined;
  }): string {
    const { queries } = this.#database;
    const { userId, atMs } = session;
    const sessionId = newId('se');
    this.#database.transaction(() => {
      const oldest = queries
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', userId)
        .orderBy('last_used_at_ms', 'desc')
        .limit(-1)
        .offset(maxSessionsPerUser - 1);
      const removed = this.#database.run(queries.deleteFrom('sessions').where('id', 'in', oldest));
      if (removed > 0) this.#clearCache();
      this.#database.run(
        queries.insertInto('sessions').values({
          id: sessionId,
          user_id: userId,
          secret_hash: hashOfSecret(session.secret),
          created_at_ms: atMs,
          last_used_at_ms: atMs,
          expires_at_ms: session.expiresAtMs,
          address: session.address,
          user_agent: session.userAgent ?? null,
        }),
      );
    });
    return sessionId;
  }

  /** Notes that a session was used, and until when it lasts. */
  touch(sessionId: string, lastUsedAtMs: number, expiresAtMs: number): void {
    this.#clearCache();
    this.#touch.run(lastUsedAtMs, expiresAtMs, sessionId);
  }

  /** Sessions of a user that have not expired, at most {@link maxSessionsPerUser}, the newest first. */
  listByUser(userId: string, nowMs: number): ListedSession[] {
    const { queries } = this.#database;
    const rows = this.#database.all(
      queries
        .selectFrom('sessions')
        .select(['id', 'created_at_ms', 'last_used_at_ms', 'address', 'user_agent'])
        .where('user_id', '=', userId)
        .where('expires_at_ms', '>', nowMs)
        .orderBy('created_at_ms', 'desc')
        .orderBy('id', 'desc'),
    );
    return rows.map(row => ({
      sessionId: row.id,
      createdAtMs: row.created_at_ms,
      lastUsedAtMs: row.last_used_at_ms,
      address: row.address,
      userAgent: row.user_agent ?? undefined,
    }));
  }

  /** Ends a session. */
  remove(sessionId: string): void {
    this.#clearCache();
    const { queries } = this.#database;
    this.#database.run(queries.deleteFrom('sessions').where('id', '=', sessionId));
  }

  /** Ends all sessions of a user but one. */
  removeOthers(userId: string, keptSessionId: string): void {
    this.#clearCache();
    const { queries } = this.#database;
    this.#database.run(
      queries.deleteFrom('sessions').where('user_id', '=', userId).where('id', '!=', keptSessionId),
    );
  }

  /** Removes sessions that expired, no more than `maxRestreams`; how many those were. */
  removeExpired(nowMs: number, limit: number): number {
    const { queries } = this.#database;
    const expired = queries
      .selectFrom('sessions')
      .select('id')
      .where('expires_at_ms', '<=', nowMs)
      .limit(limit);
    return this.#database.run(queries.deleteFrom('sessions').where('id', 'in', expired));
  }

  /** Who signs in with an address. */
  findUser(email: string): User | undefined {
    const { queries } = this.#database;
    const row = this.#database.first(
      queries
        .selectFrom('users')
        .innerJoin('accounts', 'accounts.id', 'users.account_id')
        .select([
          'users.id',
          'users.account_id',
          'users.email',
          'users.password_hash',
          'accounts.is_suspended',
        ])
        .where('users.email', '=', email),
    );
    if (row === undefined) return undefined;
    return {
      userId: row.id,
      accountId: row.account_id,
      email: row.email,
      passwordHash: row.password_hash,
      isSuspended: row.is_suspended === 1,
    };
  }

  /**
   * Gives a user another password, unless somebody else did since it was read; whether that was done. Ends all sessions but one,
   * which another secret opens from now on.
   */
  changePassword(user: User, passwordHash: string, kept: { sessionId: string; secret: string }): boolean {
    const { queries } = this.#database;
    return this.#database.transaction(() => {
      const changed = queries
        .updateTable('users')
        .set({ password_hash: passwordHash })
        .where('id', '=', user.userId)
        .where('password_hash', '=', user.passwordHash);
      if (this.#database.run(changed) === 0) return false;
      this.removeOthers(user.userId, kept.sessionId);
      this.#database.run(
        queries
          .updateTable('sessions')
          .set({ secret_hash: hashOfSecret(kept.secret) })
          .where('id', '=', kept.sessionId),
      );
      return true;
    });
  }

  #clearCache(): void {
    this.#cache.clear();
    this.#cachedVersion = this.#accounts.changes;
  }
}

function sessionFrom(row: SessionRow): Session {
  return {
    sessionId: row.id,
    userId: row.user_id,
    accountId: row.account_id,
    email: row.email,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    expiresAtMs: row.expires_at_ms,
    account: {
      createdAtMs: row.account_created_at_ms,
      isUpgraded: row.is_upgraded === 1,
      isSuspended: row.is_suspended === 1,
      isOperator: row.is_operator === 1,
    },
    projectIds: { sandbox: row.sandbox_id, production: row.production_id },
  };
}
