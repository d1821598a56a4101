import { newId } from '../../../shared/ids.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import { lockForUpdate } from '../../../store/row-locks.ts';
import type { ProjectPair } from './project-pair.ts';

/** Images of a deleted project. Their files are left. */
export interface RemovedImages {
  readonly playerIds: readonly string[];
  readonly watermarkIds: readonly string[];
}

/** Change pairs within `AccountsStore.changeAccess`. */
export class ProjectPairsStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  /** The oldest first. */
  async list(accountId: string, connection: Connection = this.#database): Promise<ProjectPair[]> {
    const query = selectPairs(connection).where('pp.account_id', '=', accountId);
    return (await connection.all(query.orderBy('pp.created_at_ms').orderBy('pp.id'))).map(pairFrom);
  }

  async find(
    accountId: string,
    pairId: string,
    connection: Connection = this.#database,
  ): Promise<ProjectPair | undefined> {
    const query = selectPairs(connection).where('pp.account_id', '=', accountId);
    const row = await connection.first(query.where('pp.id', '=', pairId));
    return row === undefined ? undefined : pairFrom(row);
  }

  async findByProject(
    projectId: string,
    connection: Connection = this.#database,
  ): Promise<ProjectPair | undefined> {
    const pairId = connection.queries.selectFrom('projects').select('pair_id').where('id', '=', projectId);
    const row = await connection.first(selectPairs(connection).where('pp.id', '=', pairId));
    return row === undefined ? undefined : pairFrom(row);
  }

  async add(
    pair: { accountId: string; name: string; createdAtMs: number },
    transaction: Transaction,
  ): Promise<ProjectPair> {
    const { accountId: account_id, name, createdAtMs } = pair;
    const { queries } = transaction;
    const id = newId('pp');
    const projectIds = { sandbox: newId('pr'), production: newId('pr') };
    const shared = { account_id, created_at_ms: createdAtMs };
    await transaction.run(queries.insertInto('project_pairs').values({ ...shared, id, name }));
    for (const environment of ['sandbox', 'production'] as const) {
      const row = { ...shared, id: projectIds[environment], pair_id: id, environment };
      await transaction.run(queries.insertInto('projects').values(row));
    }
    return { pairId: id, name, createdAtMs, projectIds };
  }

  async rename(pairId: string, name: string, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries.updateTable('project_pairs').set({ name }).where('id', '=', pairId),
    );
  }

  /** Looks for videos, also in the trash or still being recorded, and live streams. Keeps others from adding some. */
  async holdIfEmpty({ projectIds }: ProjectPair, transaction: Transaction): Promise<boolean> {
    const { queries } = transaction;
    const ids = Object.values(projectIds);
    const projects = queries.selectFrom('projects').select('id').where('id', 'in', ids);
    await transaction.all(lockForUpdate(projects, transaction));
    for (const table of ['videos', 'recordings', 'live_streams'] as const) {
      const any = queries.selectFrom(table).select('project_id').where('project_id', 'in', ids).limit(1);
      if ((await transaction.first(any)) !== undefined) return false;
    }
    return true;
  }

  /** Removes everything of both projects, but for counts of viewers, which housekeeping removes bit by bit. */
  async remove({ pairId, projectIds }: ProjectPair, transaction: Transaction): Promise<RemovedImages> {
    const { queries } = transaction;
    const idsOf = async (table: 'players' | 'watermarks') => {
      const ids = queries.selectFrom(table).select('id').where('project_id', 'in', Object.values(projectIds));
      return (await transaction.all(ids)).map(({ id }) => id);
    };
    const images = { playerIds: await idsOf('players'), watermarkIds: await idsOf('watermarks') };
    const keys = queries
      .selectFrom('api_keys as k')
      .innerJoin('projects as p', 'p.id', 'k.project_id')
      .select('k.pair_id')
      .where('p.pair_id', '=', pairId);
    await transaction.run(queries.deleteFrom('key_pairs').where('id', 'in', keys));
    await transaction.run(queries.deleteFrom('project_pairs').where('id', '=', pairId));
    return images;
  }
}

interface PairRow {
  id: string;
  name: string;
  created_at_ms: number;
  sandbox_id: string;
  production_id: string;
}

function selectPairs({ queries }: Connection) {
  return queries
    .selectFrom('project_pairs as pp')
    .innerJoin('projects as sandbox', join =>
      join.onRef('sandbox.pair_id', '=', 'pp.id').on('sandbox.environment', '=', 'sandbox'),
    )
    .innerJoin('projects as production', join =>
      join.onRef('production.pair_id', '=', 'pp.id').on('production.environment', '=', 'production'),
    )
    .select([
      'pp.id',
      'pp.name',
      'pp.created_at_ms',
      'sandbox.id as sandbox_id',
      'production.id as production_id',
    ]);
}

function pairFrom(row: PairRow): ProjectPair {
  return {
    pairId: row.id,
    name: row.name,
    createdAtMs: row.created_at_ms,
    projectIds: { sandbox: row.sandbox_id, production: row.production_id },
  };
}
