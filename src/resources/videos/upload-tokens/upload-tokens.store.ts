import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Database } from '../../../store/database.ts';
import { listTotal } from '../../../store/list-total.ts';
import { readListPage } from '../../../store/read-list-page.ts';
import type { Environment, Row } from '../../../store/tables.ts';
import { type Standing, standingOf } from '../../identity/accounts/account.ts';
import type { UploadToken } from './upload-token.ts';

const sortColumns = { createdAt: 'created_at_ms', ttl: 'ttl_seconds' } as const;

/** Expired tokens are deleted before a list is read, so that its total is exact. */
export class UploadTokensStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async findOwner(
    token: string,
    nowMs: number,
  ): Promise<{ projectId: string; environment: Environment; standing: Standing } | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('upload_tokens as token')
        .innerJoin('projects as project', 'project.id', 'token.project_id')
        .innerJoin('accounts as account', 'account.id', 'project.account_id')
        .select(['token.project_id', 'token.expires_at_ms', 'project.environment'])
        .select(['account.is_suspended', 'account.is_upgraded'])
        .where('token.token', '=', token),
    );
    if (row === undefined || isExpired(row, nowMs)) return undefined;
    const { project_id: projectId, environment } = row;
    const isSuspended = row.is_suspended === 1;
    const standing = standingOf({ isSuspended, isUpgraded: row.is_upgraded === 1, environment });
    return { projectId, environment, standing };
  }

  async find(projectId: string, token: string, nowMs: number): Promise<UploadToken | undefined> {
    const row = await this.#database.first(this.#ofProject(projectId).selectAll().where('token', '=', token));
    return row === undefined || isExpired(row, nowMs) ? undefined : tokenFrom(row);
  }

  async list(
    projectId: string,
    { field, direction }: Sort<keyof typeof sortColumns>,
    page: PageRequest,
    nowMs: number,
  ): Promise<ListResult<UploadToken>> {
    await this.#database.run(
      this.#database.queries.deleteFrom('upload_tokens').where('expires_at_ms', '<=', nowMs),
    );
    return readListPage(this.#database, {
      table: 'upload_tokens',
      matching: this.#ofProject(projectId),
      id: 'token',
      sort: { field: sortColumns[field], direction },
      page,
      total: await listTotal(this.#database, projectId, 'upload-tokens'),
      toItem: tokenFrom,
    });
  }

  async add(token: UploadToken): Promise<void> {
    await this.#database.run(
      this.#database.queries.insertInto('upload_tokens').values({
        token: token.token,
        project_id: token.projectId,
        ttl_seconds: token.ttl,
        created_at_ms: token.createdAtMs,
        expires_at_ms: token.expiresAtMs ?? null,
      }),
    );
  }

  async remove(projectId: string, token: string): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('upload_tokens')
        .where('token', '=', token)
        .where('project_id', '=', projectId),
    );
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('upload_tokens').where('project_id', '=', projectId);
  }
}

function isExpired({ expires_at_ms }: Pick<Row<'upload_tokens'>, 'expires_at_ms'>, nowMs: number): boolean {
  return expires_at_ms !== null && expires_at_ms <= nowMs;
}

function tokenFrom(row: Row<'upload_tokens'>): UploadToken {
  return {
    token: row.token,
    projectId: row.project_id,
    ttl: row.ttl_seconds,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms ?? undefined,
  };
}
