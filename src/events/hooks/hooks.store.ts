import type { Database } from '../../store/database.ts';
import { lockForUpdate } from '../../store/row-locks.ts';
import type { Row } from '../../store/tables.ts';
import { type Hook, type HookErrorCode, type HookKind, type HookResult, maxKeptResults } from './hook.ts';

export class HooksStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, kind: HookKind): Promise<Hook | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('hooks')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('kind', '=', kind),
    );
    return row && hookFrom(row);
  }

  /** Replaces the hook of its project and kind, which keeps its id, secret and time of creation. */
  async put(hook: Hook): Promise<Hook> {
    const { queries } = this.#database;
    const settings = { url: hook.url, timeout_ms: hook.timeoutMs, on_failure: hook.onFailure };
    const row = await this.#database.first(
      queries
        .insertInto('hooks')
        .values({
          id: hook.hookId,
          project_id: hook.projectId,
          kind: hook.kind,
          ...settings,
          signature_secret: hook.signatureSecret,
          created_at_ms: hook.createdAtMs,
        })
        .onConflict(conflict => conflict.columns(['project_id', 'kind']).doUpdateSet(settings))
        .returningAll(),
    );
    return hookFrom(row!);
  }

  async remove({ hookId }: Hook): Promise<void> {
    await this.#database.run(this.#database.queries.deleteFrom('hooks').where('id', '=', hookId));
  }

  /** Newest first. */
  async results({ hookId }: Hook): Promise<HookResult[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('hook_results')
        .selectAll()
        .where('hook_id', '=', hookId)
        .orderBy('number', 'desc')
        .limit(maxKeptResults),
    );
    return rows.map(resultFrom);
  }

  /** Removes older ones beyond {@link maxKeptResults}. Does nothing when the hook was removed. @param results oldest first */
  async addResults(hookId: string, results: readonly HookResult[]): Promise<void> {
    await this.#database.transaction(async transaction => {
      const { queries } = transaction;
      const held = queries.selectFrom('hooks').select('id').where('id', '=', hookId);
      if ((await transaction.first(lockForUpdate(held, transaction))) === undefined) return;
      await transaction.run(
        queries.insertInto('hook_results').values(
          results.map(result => ({
            hook_id: hookId,
            attempted_at_ms: result.attemptedAtMs,
            duration_ms: result.durationMs,
            is_allowed: Number(result.isAllowed),
            is_test: Number(result.isTest),
            subject_id: result.subjectId,
            remote_address: result.remoteAddress,
            status_code: result.statusCode ?? null,
            error: result.error ?? null,
            error_code: result.errorCode ?? null,
            response: result.response ?? null,
          })),
        ),
      );
      const kept = queries
        .selectFrom('hook_results')
        .select('number')
        .where('hook_id', '=', hookId)
        .orderBy('number', 'desc')
        .limit(maxKeptResults);
      await transaction.run(
        queries.deleteFrom('hook_results').where('hook_id', '=', hookId).where('number', 'not in', kept),
      );
    });
  }
}

function hookFrom(row: Row<'hooks'>): Hook {
  return {
    hookId: row.id,
    projectId: row.project_id,
    kind: row.kind,
    url: row.url,
    timeoutMs: row.timeout_ms,
    onFailure: row.on_failure,
    signatureSecret: row.signature_secret,
    createdAtMs: row.created_at_ms,
  };
}

function resultFrom(row: Omit<Row<'hook_results'>, 'number'>): HookResult {
  return {
    attemptedAtMs: row.attempted_at_ms,
    durationMs: row.duration_ms,
    isAllowed: row.is_allowed === 1,
    isTest: row.is_test === 1,
    subjectId: row.subject_id,
    remoteAddress: row.remote_address,
    statusCode: row.status_code ?? undefined,
    error: row.error ?? undefined,
    errorCode: (row.error_code ?? undefined) as HookErrorCode | undefined,
    response: row.response ?? undefined,
  };
}
