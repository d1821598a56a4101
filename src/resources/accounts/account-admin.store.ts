import type { Database } from '../../store/database.ts';

/** An account as the operator sees it. */
export interface ListedAccount {
  readonly accountId: string;
  /** Of its first user. */
  readonly email: string | undefined;
  readonly isUpgraded: boolean;
  readonly isSuspended: boolean;
  readonly createdAtMs: number;
  /** Keys of both environments. */
  readonly keys: number;
  /** Of both environments, discarded ones too. */
  readonly videos: number;
  readonly liveStreams: number;
}

interface ListedRow {
  id: string;
  email: string | null;
  is_upgraded: number;
  is_suspended: number;
  created_at_ms: number;
  keys: number;
  videos: number;
  live_streams: number;
}

const columns = `
  a.id, a.is_upgraded, a.is_suspended, a.created_at_ms,
  (SELECT email FROM users u WHERE u.account_id = a.id ORDER BY created_at_ms, id LIMIT 1) AS email,
  (SELECT count(*) FROM projects p JOIN api_keys k ON k.project_id = p.id
    WHERE p.account_id = a.id AND k.revoked_at_ms IS NULL) AS keys,
  (SELECT coalesce(sum(b.videos), 0) FROM projects p JOIN video_blocks_by_creation b ON b.project_id = p.id
    WHERE p.account_id = a.id) AS videos,
  (SELECT coalesce(sum(t.total), 0) FROM projects p JOIN list_totals t ON t.project_id = p.id
    WHERE p.account_id = a.id AND t.list = 'live-streams') AS live_streams`;

/** Accounts in the database, for the operator: whosever they are. */
export class AccountAdminStore {
  readonly #database: Database;
  readonly #list;
  readonly #find;

  constructor(database: Database) {
    this.#database = database;
    this.#list = database.sqlite.prepare<[], ListedRow>(
      `SELECT ${columns} FROM accounts a ORDER BY a.created_at_ms, a.id`,
    );
    this.#find = database.sqlite.prepare<[string, string], ListedRow>(
      `SELECT ${columns} FROM accounts a
       WHERE a.id = ? OR a.id = (SELECT account_id FROM users WHERE email = ? COLLATE NOCASE)`,
    );
  }

  /** Every account, the oldest first. */
  list(): ListedAccount[] {
    return this.#list.all().map(accountFrom);
  }

  /** The account of this id, or to which somebody signs in with this address. */
  find(emailOrId: string): ListedAccount | undefined {
    const row = this.#find.get(emailOrId, emailOrId);
    return row === undefined ? undefined : accountFrom(row);
  }

  /** Whether somebody has that address, and now this password. Who was signed in with the old one is so no more. */
  setPassword(email: string, passwordHash: string): boolean {
    const { queries } = this.#database;
    const changed = queries
      .updateTable('users')
      .set({ password_hash: passwordHash })
      .where('email', '=', email);
    const users = queries.selectFrom('users').select('id').where('email', '=', email);
    return this.#database.transaction(() => {
      this.#database.run(queries.deleteFrom('sessions').where('user_id', 'in', users));
      return this.#database.run(changed) > 0;
    });
  }
}

function accountFrom(row: ListedRow): ListedAccount {
  return {
    accountId: row.id,
    email: row.email ?? undefined,
    isUpgraded: row.is_upgraded === 1,
    isSuspended: row.is_suspended === 1,
    createdAtMs: row.created_at_ms,
    keys: row.keys,
    videos: row.videos,
    liveStreams: row.live_streams,
  };
}
