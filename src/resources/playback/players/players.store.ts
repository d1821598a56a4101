import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { foldText } from '../../../store/folded-text.ts';
import { listTotal } from '../../../store/list-total.ts';
import { prepareQuery } from '../../../store/prepared-query.ts';
import { readListPage } from '../../../store/read-list-page.ts';
import { lockForKeyShare } from '../../../store/row-locks.ts';
import type { Row } from '../../../store/tables.ts';
import type { Player, PlayerLogo, PlayerLook } from './player.ts';

interface ThemedRows {
  /** Returns the number of changed rows. */
  detachPlayer(playerId: string, limit: number, transaction: Transaction): Promise<number>;
}

const sortColumns = { name: 'name_folded', createdAt: 'created_at_ms', updatedAt: 'updated_at_ms' } as const;

/** Rows that one transaction detaches: a few milliseconds. */
const detachBatchSize = 50;

/**
 * Too many videos can name a theme to change them in one transaction. The id of a deleted theme stays in
 * `removed_players` until no row names it and its files are deleted.
 */
export class PlayersStore {
  readonly #database: Database;
  readonly #themedRows: readonly ThemedRows[];
  readonly #find;

  constructor(database: Database, themedRows: readonly ThemedRows[]) {
    const { queries } = database;
    this.#database = database;
    this.#themedRows = themedRows;
    this.#find = prepareQuery<{ id: string }, Row<'players'>>(({ id }) =>
      queries.selectFrom('players').selectAll().where('id', '=', id),
    );
  }

  async findAny(playerId: string, connection: Connection = this.#database): Promise<Player | undefined> {
    const row = await connection.first(this.#find({ id: playerId }));
    return row === undefined ? undefined : playerFrom(row);
  }

  async find(
    projectId: string,
    playerId: string,
    connection: Connection = this.#database,
  ): Promise<Player | undefined> {
    const player = await this.findAny(playerId, connection);
    return player?.projectId === projectId ? player : undefined;
  }

  /** Keeps the theme until the transaction ends, so that rows may name it. */
  async exists(
    projectId: string,
    playerId: string,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const player = connection.queries
      .selectFrom('players')
      .select('id')
      .where('id', '=', playerId)
      .where('project_id', '=', projectId);
    return (await connection.first(lockForKeyShare(player, connection))) !== undefined;
  }

  async list(
    projectId: string,
    { field, direction }: Sort<keyof typeof sortColumns>,
    page: PageRequest,
  ): Promise<ListResult<Player>> {
    return readListPage(this.#database, {
      table: 'players',
      matching: this.#database.queries.selectFrom('players').where('project_id', '=', projectId),
      id: 'id',
      sort: { field: sortColumns[field], direction },
      page,
      total: await listTotal(this.#database, projectId, 'players'),
      toItem: playerFrom,
    });
  }

  async add(player: Player): Promise<void> {
    await this.#database.run(
      this.#database.queries.insertInto('players').values({
        id: player.playerId,
        project_id: player.projectId,
        ...nameColumns(player.name),
        look: JSON.stringify(player.look),
        ...logoColumns(player.logo),
        created_at_ms: player.createdAtMs,
        updated_at_ms: player.updatedAtMs,
      }),
    );
  }

  change(
    playerId: string,
    values: { name: string | undefined; look: PlayerLook },
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    const { name, look } = values;
    const columns = { ...nameColumns(name), look: JSON.stringify(look), updated_at_ms: atMs };
    return update(playerId, columns, transaction);
  }

  setLogo(
    playerId: string,
    logo: PlayerLogo | undefined,
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    return update(playerId, { ...logoColumns(logo), updated_at_ms: atMs }, transaction);
  }

  clearLogo(playerId: string): Promise<void> {
    return update(playerId, logoColumns(undefined), this.#database);
  }

  /** Returns false when rows still name it, and {@link detachSome} has to continue. */
  remove(playerId: string): Promise<boolean> {
    return this.#database.transaction(async transaction => {
      const { queries } = transaction;
      await transaction.lock('player', playerId);
      await transaction.run(queries.deleteFrom('players').where('id', '=', playerId));
      await transaction.run(
        queries
          .insertInto('removed_players')
          .values({ id: playerId })
          .onConflict(conflict => conflict.column('id').doNothing()),
      );
      return (await this.#detachBatch(playerId, transaction)) < detachBatchSize;
    });
  }

  /** Returns those that are deleted while rows may still name them. */
  async findRemoved(
    playerIds: readonly string[],
    connection: Connection = this.#database,
  ): Promise<ReadonlySet<string>> {
    if (playerIds.length === 0) return new Set();
    const { queries } = connection;
    const removed = queries.selectFrom('removed_players').select('id').where('id', 'in', playerIds);
    return new Set((await connection.all(removed)).map(({ id }) => id));
  }

  async removed(): Promise<string[]> {
    const removed = this.#database.queries.selectFrom('removed_players').select('id').orderBy('id');
    return (await this.#database.all(removed)).map(({ id }) => id);
  }

  async detachSome(playerId: string): Promise<{ readonly rows: number; readonly isDetached: boolean }> {
    const rows = await this.#database.transaction(transaction => this.#detachBatch(playerId, transaction));
    return { rows, isDetached: rows < detachBatchSize };
  }

  async forget(playerId: string): Promise<void> {
    const { queries } = this.#database;
    await this.#database.run(queries.deleteFrom('removed_players').where('id', '=', playerId));
  }

  async #detachBatch(playerId: string, transaction: Transaction): Promise<number> {
    let rows = 0;
    for (const themed of this.#themedRows) {
      rows += await themed.detachPlayer(playerId, detachBatchSize - rows, transaction);
    }
    return rows;
  }
}

async function update(
  playerId: string,
  values: Partial<Row<'players'>>,
  connection: Connection,
): Promise<void> {
  await connection.run(connection.queries.updateTable('players').set(values).where('id', '=', playerId));
}

function nameColumns(name: string | undefined): Pick<Row<'players'>, 'name' | 'name_folded'> {
  return { name: name ?? null, name_folded: foldText(name ?? '') };
}

function logoColumns(
  logo: PlayerLogo | undefined,
): Pick<Row<'players'>, 'logo_file' | 'logo_bytes' | 'link'> {
  return { logo_file: logo?.file ?? null, logo_bytes: logo?.bytes ?? null, link: logo?.link ?? null };
}

function playerFrom(row: Row<'players'>): Player {
  return {
    playerId: row.id,
    projectId: row.project_id,
    name: row.name ?? undefined,
    look: JSON.parse(row.look) as PlayerLook,
    logo:
      row.logo_file === null
        ? undefined
        : { file: row.logo_file, bytes: row.logo_bytes ?? 0, link: row.link ?? undefined },
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
