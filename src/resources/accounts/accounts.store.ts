import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';
import type { Environment } from '../../store/tables.ts';
import { type Account, type KeyOwner, standingOf } from './account.ts';
import { SecretCache } from './secret-cache.ts';

interface OwnerRow {
  api_key_id: string;
  project_id: string;
  account_id: string;
  environment: Environment;
  is_suspended: number;
  is_upgraded: number;
}

/** The columns of {@link KeyOwner} from a key `k`; joined to by the tables that lead to a key. */
export const ownerColumns = `k.id AS api_key_id, p.id AS project_id, p.account_id, p.environment, a.is_suspended, a.is_upgraded`;
/** The joins that {@link ownerColumns} needs; a revoked key has no owner. */
export const ownerJoins = `JOIN projects p ON p.id = k.project_id AND k.revoked_at_ms IS NULL
  JOIN accounts a ON a.id = p.account_id`;

/**
 * Accounts, projects, API keys and dashboard users. One for a server: it remembers for a moment whose a key is, and forgets
 * that at every change made through it.
 */
export class AccountsStore {
  readonly #database: Database;
  readonly #ownerCache = new SecretCache<KeyOwner>();
  readonly #ownerOfKey;
  readonly #touchKey;
  #changes = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#ownerOfKey = database.sqlite.prepare<[Buffer], OwnerRow>(
      `SELECT ${ownerColumns} FROM api_keys k ${ownerJoins} WHERE k.key_hash = ?`,
    );
    this.#touchKey = database.sqlite.prepare<[number, string]>(
      'UPDATE api_keys SET last_used_at_ms = ? WHERE id = ?',
    );
  }

  /** Whether there is no account yet. */
  isEmpty(): boolean {
    const { queries } = this.#database;
    return this.#database.first(queries.selectFrom('accounts').select('id').limit(1)) === undefined;
  }

  /** Who owns an API key. */
  ownerOfKey(apiKey: string): KeyOwner | undefined {
    return this.#ownerCache.getOrLoad(apiKey, hash => {
      const row = this.#ownerOfKey.get(hash);
      return row === undefined ? undefined : ownerFrom(row);
    });
  }

  /** Notes when a key was last used. */
  touchKey(apiKeyId: string, atMs: number): void {
    this.#touchKey.run(atMs, apiKeyId);
  }

  /** Grows with every change of what an account may do, for those who remember that. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether an account is that of whoever runs the server. */
  isOperator(accountId: string): boolean {
    const { queries } = this.#database;
    const account = queries
      .selectFrom('accounts')
      .select('id')
      .where('id', '=', accountId)
      .where('is_operator', '=', 1);
    return this.#database.first(account) !== undefined;
  }

  /** Adds an account with its two projects. The first one is that of whoever runs the server. */
  addAccount(account: { isUpgraded: boolean; createdAtMs: number }): {
    accountId: string;
    projectIds: Record<Environment, string>;
  } {
    const { queries } = this.#database;
    const created_at_ms = account.createdAtMs;
    const accountId = newId('ac');
    const projectIds = { sandbox: newId('pr'), production: newId('pr') };
    this.#database.transaction(() => {
      this.#database.run(
        queries.insertInto('accounts').values({
          id: accountId,
          is_upgraded: Number(account.isUpgraded),
          is_suspended: 0,
          is_operator: Number(this.isEmpty()),
          created_at_ms,
        }),
      );
      for (const environment of ['sandbox', 'production'] as const) {
        const row = { id: projectIds[environment], account_id: accountId, environment, created_at_ms };
        this.#database.run(queries.insertInto('projects').values(row));
      }
    });
    return { accountId, projectIds };
  }

  /** To be called after API keys were added or revoked. */
  clearOwnerCache(): void {
    this.#ownerCache.clear();
  }

  /** An account, and who was the first that may sign in to it. */
  find(accountId: string): Account | undefined {
    const { queries } = this.#database;
    const row = this.#database.first(
      queries
        .selectFrom('accounts')
        .select(['is_upgraded', 'is_operator', 'created_at_ms'])
        .where('id', '=', accountId),
    );
    if (row === undefined) return undefined;
    const user = this.#database.first(
      queries
        .selectFrom('users')
        .select('email')
        .where('account_id', '=', accountId)
        .orderBy('created_at_ms')
        .orderBy('id'),
    );
    return {
      accountId,
      email: user?.email,
      isUpgraded: row.is_upgraded === 1,
      isOperator: row.is_operator === 1,
      createdAtMs: row.created_at_ms,
    };
  }

  /** Changes what an account may do. Who is signed in to one that is suspended is so no more. */
  setStanding(accountId: string, standing: { isSuspended?: boolean; isUpgraded?: boolean }): void {
    const changes = {
      ...(standing.isSuspended === undefined ? {} : { is_suspended: Number(standing.isSuspended) }),
      ...(standing.isUpgraded === undefined ? {} : { is_upgraded: Number(standing.isUpgraded) }),
    };
    if (Object.keys(changes).length === 0) return;
    this.#ownerCache.clear();
    this.#changes += 1;
    const { queries } = this.#database;
    this.#database.transaction(() => {
      this.#database.run(queries.updateTable('accounts').set(changes).where('id', '=', accountId));
      if (standing.isSuspended !== true) return;
      const users = queries.selectFrom('users').select('id').where('account_id', '=', accountId);
      this.#database.run(queries.deleteFrom('sessions').where('user_id', 'in', users));
    });
  }

  /** Adds somebody who may sign in to the dashboard. */
  addUser(user: { accountId: string; email: string; passwordHash: string; createdAtMs: number }): void {
    this.#database.run(
      this.#database.queries.insertInto('users').values({
        id: newId('us'),
        account_id: user.accountId,
        email: user.email,
        password_hash: user.passwordHash,
        created_at_ms: user.createdAtMs,
      }),
    );
  }
}

/** A joined row as its noun. */
export function ownerFrom(row: OwnerRow): KeyOwner {
  return {
    apiKeyId: row.api_key_id,
    projectId: row.project_id,
    accountId: row.account_id,
    environment: row.environment,
    standing: standingOf({
      isSuspended: row.is_suspended === 1,
      isUpgraded: row.is_upgraded === 1,
      environment: row.environment,
    }),
  };
}
