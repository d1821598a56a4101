import type { Database } from '../../store/database.ts';
import { listTotal } from '../../store/list-total.ts';
import type { Environment, UploadTokenRow } from '../../store/tables.ts';
import { type Standing, standingOf } from '../accounts/account.ts';
import type { UploadToken } from './upload-token.ts';

interface OwnerRow {
  project_id: string;
  expires_at_ms: number | null;
  environment: Environment;
  is_suspended: number;
  is_upgraded: number;
}

const sortColumns = { createdAt: 'created_at_ms', ttl: 'ttl_seconds' } as const;

/** Upload tokens in the database. Those that expired are removed before lists are made, so that a list's total is known. */
export class UploadTokensStore {
  readonly #database: Database;
  readonly #owner;

  constructor(database: Database) {
    this.#database = database;
    this.#owner = database.sqlite.prepare<[string], OwnerRow>(
      `SELECT t.project_id, t.expires_at_ms, p.environment, a.is_suspended, a.is_upgraded
       FROM upload_tokens t JOIN projects p ON p.id = t.project_id JOIN accounts a ON a.id = p.account_id
       WHERE t.token = ?`,
    );
  }

  /** Whose a token is, unless it expired. */
  ownerOf(
    token: string,
    nowMs: number,
  ): { projectId: string; environment: Environment; standing: Standing } | undefined {
    const row = this.#owner.get(token);
    if (row === undefined || (row.expires_at_ms !== null && row.expires_at_ms <= nowMs)) return undefined;
    const { project_id: projectId, environment } = row;
    const isSuspended = row.is_suspended === 1;
    return {
      projectId,
      environment,
      standing: standingOf({ isSuspended, isUpgraded: row.is_upgraded === 1, environment }),
    };
  }

  /** A token of a project that has not expired. */
  find(projectId: string, token: string, nowMs: number): UploadToken | undefined {
    const row = this.#database.first(
      this.#database.queries
        .selectFrom('upload_tokens')
        .selectAll()
        .where('token', '=', token)
        .where('project_id', '=', projectId),
    );
    if (row === undefined || (row.expires_at_ms !== null && row.expires_at_ms <= nowMs)) return undefined;
    return tokenFrom(row);
  }

  /** One page of a project's tokens, and how many there are on all pages. */
  list(
    projectId: string,
    sort: { field: keyof typeof sortColumns; direction: 'asc' | 'desc' },
    page: { currentPage: number; pageSize: number },
    nowMs: number,
  ): { tokens: UploadToken[]; total: number } {
    const { queries } = this.#database;
    this.#removeExpired(nowMs);
    const total = listTotal(this.#database, projectId, 'upload-tokens');
    const offset = (page.currentPage - 1) * page.pageSize;
    if (offset >= total) return { tokens: [], total };
    const column = sortColumns[sort.field];
    // Skipping rows is cheap only while it stays in the index, so the page is found first and read afterwards.
    const names = queries
      .selectFrom('upload_tokens')
      .select('token')
      .where('project_id', '=', projectId)
      .orderBy(column, sort.direction)
      .orderBy('token', sort.direction)
      .limit(page.pageSize)
      .offset(offset);
    const rows = this.#database.all(
      queries
        .selectFrom('upload_tokens')
        .selectAll()
        .where('token', 'in', names)
        .orderBy(column, sort.direction)
        .orderBy('token', sort.direction),
    );
    return { tokens: rows.map(tokenFrom), total };
  }

  /** Adds a token. */
  add(token: UploadToken): void {
    this.#database.run(
      this.#database.queries.insertInto('upload_tokens').values({
        token: token.token,
        project_id: token.projectId,
        ttl_seconds: token.ttl,
        created_at_ms: token.createdAtMs,
        expires_at_ms: token.expiresAtMs ?? null,
      }),
    );
  }

  /** Removes a token. */
  remove(projectId: string, token: string): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('upload_tokens')
        .where('token', '=', token)
        .where('project_id', '=', projectId),
    );
  }

  #removeExpired(nowMs: number): void {
    this.#database.run(
      this.#database.queries.deleteFrom('upload_tokens').where('expires_at_ms', '<=', nowMs),
    );
  }
}

function tokenFrom(row: UploadTokenRow): UploadToken {
  return {
    token: row.token,
    projectId: row.project_id,
    ttl: row.ttl_seconds,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms ?? undefined,
  };
}
