import type { Compilable } from 'kysely';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { newId } from '../../../shared/ids.ts';
import type { Connection, Queries, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { type Bound, type PreparedQuery, prepareQuery } from '../../../store/prepared-query.ts';
import { hashOfSecret } from '../accounts/account.ts';
import { SecretCache } from '../accounts/secret-cache.ts';
import { type Role, scopesOfRole } from '../members/member.ts';
import { type ListedSession, maxSessionsPerUser, type Session } from './session.ts';

interface SessionRow {
  id: string;
  user_id: string;
  email: EmailAddress;
  verified_at_ms: number | null;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  account_id: string;
  account_created_at_ms: number;
  is_upgraded: number;
  is_suspended: number;
  is_operator: number;
  role: Role;
  account_name: string | null;
  pair_id: string;
  pair_name: string;
  pair_created_at_ms: number;
  sandbox_id: string;
  production_id: string;
}

/** One instance per server: it caches sessions for a moment. End sessions within `AccountsStore.changeAccess`. */
export class SessionsStore {
  readonly #database: Database;
  readonly #cache = new SecretCache<Session>();
  readonly #findBySecret: PreparedQuery<{ hash: Buffer }, SessionRow>;

  constructor(database: Database) {
    this.#database = database;
    this.#findBySecret = prepareQuery(({ hash }: Bound<{ hash: Buffer }>) =>
      selectSession(database.queries).where('s.secret_hash', '=', hash),
    );
  }

  async findBySecret(secret: string, nowMs: number): Promise<Session | undefined> {
    const session = await this.#cache.getOrLoad(secret, async hash => {
      return sessionFrom(await this.#database.all(this.#findBySecret({ hash })));
    });
    return session !== undefined && nowMs < session.expiresAtMs ? session : undefined;
  }

  async find(sessionId: string, connection: Connection = this.#database): Promise<Session | undefined> {
    return sessionFrom(await connection.all(selectSession(connection.queries).where('s.id', '=', sessionId)));
  }

  /** Ends the user's least recently used sessions beyond {@link maxSessionsPerUser}. */
  async add(
    session: {
      userId: string;
      accountId: string;
      secret: string;
      atMs: number;
      expiresAtMs: number;
      address: string;
      userAgent: string | undefined;
    },
    transaction: Transaction,
  ): Promise<string> {
    const { queries } = transaction;
    const { userId, atMs } = session;
    const sessionId = newId('se');
    const oldest = queries
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .orderBy('last_used_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(maxSessionsPerUser)
      .offset(maxSessionsPerUser - 1);
    await transaction.run(queries.deleteFrom('sessions').where('id', 'in', oldest));
    await transaction.run(
      queries.insertInto('sessions').values({
        id: sessionId,
        user_id: userId,
        secret_hash: hashOfSecret(session.secret),
        created_at_ms: atMs,
        last_used_at_ms: atMs,
        expires_at_ms: session.expiresAtMs,
        address: session.address,
        user_agent: session.userAgent ?? null,
        account_id: session.accountId,
      }),
    );
    return sessionId;
  }

  touch(sessionId: string, lastUsedAtMs: number, expiresAtMs: number): Promise<void> {
    return this.#change(
      this.#database.queries
        .updateTable('sessions')
        .set({ last_used_at_ms: lastUsedAtMs, expires_at_ms: expiresAtMs })
        .where('id', '=', sessionId),
    );
  }

  setSecret(sessionId: string, secret: string, transaction: Transaction): Promise<void> {
    return this.#change(
      transaction.queries
        .updateTable('sessions')
        .set({ secret_hash: hashOfSecret(secret) })
        .where('id', '=', sessionId),
      transaction,
    );
  }

  /** Unexpired, newest first, at most {@link maxSessionsPerUser}. */
  async listByUser(userId: string, nowMs: number): Promise<ListedSession[]> {
    const rows = await this.#database.all(
      this.#database.queries
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

  remove(sessionId: string, transaction: Transaction): Promise<void> {
    return this.#change(transaction.queries.deleteFrom('sessions').where('id', '=', sessionId), transaction);
  }

  removeBySecret(secret: string, transaction: Transaction): Promise<void> {
    const hash = hashOfSecret(secret);
    return this.#change(
      transaction.queries.deleteFrom('sessions').where('secret_hash', '=', hash),
      transaction,
    );
  }

  /** Returns the number of sessions that ended. */
  async removeOfUser(userId: string, kept: readonly string[], transaction: Transaction): Promise<number> {
    const all = transaction.queries.deleteFrom('sessions').where('user_id', '=', userId);
    const ended = await transaction.run(kept.length === 0 ? all : all.where('id', 'not in', kept));
    transaction.afterCommit(() => this.clearCache());
    return ended;
  }

  setAccount(sessionId: string, accountId: string, transaction: Transaction): Promise<void> {
    const update = transaction.queries.updateTable('sessions').set({ account_id: accountId });
    return this.#change(update.where('id', '=', sessionId), transaction);
  }

  removeOfAccount(accountId: string, transaction: Transaction): Promise<void> {
    const ended = selectIdsOfAccount(transaction.queries, accountId);
    return this.#change(transaction.queries.deleteFrom('sessions').where('id', 'in', ended), transaction);
  }

  removeOfMember(accountId: string, userId: string, transaction: Transaction): Promise<void> {
    const ended = selectIdsOfAccount(transaction.queries, accountId).where('u.id', '=', userId);
    return this.#change(transaction.queries.deleteFrom('sessions').where('id', 'in', ended), transaction);
  }

  removeExpired(nowMs: number, limit: number): Promise<number> {
    const { queries } = this.#database;
    const expired = queries
      .selectFrom('sessions')
      .select('id')
      .where('expires_at_ms', '<=', nowMs)
      .limit(limit);
    return this.#database.run(queries.deleteFrom('sessions').where('id', 'in', expired));
  }

  clearCache(): void {
    this.#cache.clear();
  }

  async #change(query: Compilable, connection: Connection = this.#database): Promise<void> {
    await connection.run(query);
    connection.afterCommit(() => this.clearCache());
  }
}

/** Sessions that act for the account. */
function selectIdsOfAccount(queries: Queries, accountId: string) {
  return queries
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select('s.id')
    .where(({ eb, fn }) => eb(fn.coalesce('s.account_id', 'u.account_id'), '=', accountId));
}

/** Selects a row per project of the account. */
function selectSession(queries: Queries) {
  return queries
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('members as m', join =>
      join
        .onRef('m.user_id', '=', 'u.id')
        .on(({ eb, fn }) => eb('m.account_id', '=', fn.coalesce('s.account_id', 'u.account_id'))),
    )
    .innerJoin('accounts as a', 'a.id', 'm.account_id')
    .innerJoin('project_pairs as pp', 'pp.account_id', 'a.id')
    .innerJoin('projects as sandbox', join =>
      join.onRef('sandbox.pair_id', '=', 'pp.id').on('sandbox.environment', '=', 'sandbox'),
    )
    .innerJoin('projects as production', join =>
      join.onRef('production.pair_id', '=', 'pp.id').on('production.environment', '=', 'production'),
    )
    .select([
      's.id',
      's.user_id',
      'u.email',
      'u.verified_at_ms',
      's.created_at_ms',
      's.last_used_at_ms',
      's.expires_at_ms',
      'a.id as account_id',
      'a.created_at_ms as account_created_at_ms',
      'a.is_upgraded',
      'a.is_suspended',
      'a.is_operator',
      'a.name as account_name',
      'm.role',
      'pp.id as pair_id',
      'pp.name as pair_name',
      'pp.created_at_ms as pair_created_at_ms',
      'sandbox.id as sandbox_id',
      'production.id as production_id',
    ])
    .orderBy('pp.created_at_ms')
    .orderBy('pp.id');
}

/** @param rows of one session */
function sessionFrom(rows: readonly SessionRow[]): Session | undefined {
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    sessionId: row.id,
    userId: row.user_id,
    accountId: row.account_id,
    actor: {
      kind: 'user',
      userId: row.user_id,
      email: row.email,
      sessionId: row.id,
      isUnverified: row.verified_at_ms === null,
    },
    email: row.email,
    isVerified: row.verified_at_ms !== null,
    role: row.role,
    scopes: scopesOfRole(row.role),
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
    expiresAtMs: row.expires_at_ms,
    account: {
      name: row.account_name ?? undefined,
      createdAtMs: row.account_created_at_ms,
      isUpgraded: row.is_upgraded === 1,
      isSuspended: row.is_suspended === 1,
      isOperator: row.is_operator === 1,
    },
    projects: rows.map(one => ({
      pairId: one.pair_id,
      name: one.pair_name,
      createdAtMs: one.pair_created_at_ms,
      projectIds: { sandbox: one.sandbox_id, production: one.production_id },
    })),
  };
}
