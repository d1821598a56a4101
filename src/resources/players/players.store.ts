import type { ListResult, PageRequest, Sort } from '../../shared/list-page.ts';
import type { Database } from '../../store/database.ts';
import { foldText } from '../../store/folded-text.ts';
import { listTotal } from '../../store/list-total.ts';
import type { PlayerRow } from '../../store/media-tables.ts';
import { readListPage } from '../../store/read-list-page.ts';
import type { Player, PlayerLogo, PlayerLook } from './player.ts';

interface ThemedRows {
  /** Returns the number of changed rows. */
  detachPlayer(playerId: string, limit: number): number;
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
  readonly #removed: Set<string>;

  constructor(database: Database, themedRows: readonly ThemedRows[]) {
    const { queries } = database;
    this.#database = database;
    this.#themedRows = themedRows;
    this.#find = database.prepare<{ id: string }, PlayerRow>(({ id }) =>
      queries.selectFrom('players').selectAll().where('id', '=', id),
    );
    this.#removed = new Set(
      database.all(queries.selectFrom('removed_players').select('id')).map(({ id }) => id),
    );
  }

  findAny(playerId: string): Player | undefined {
    const row = this.#find.first({ id: playerId });
    return row === undefined ? undefined : playerFrom(row);
  }

  find(projectId: string, playerId: string): Player | undefined {
    const player = this.findAny(playerId);
    return player?.projectId === projectId ? player : undefined;
  }

  list(
    projectId: string,
    { field, direction }: Sort<keyof typeof sortColumns>,
    page: PageRequest,
  ): ListResult<Player> {
    return readListPage(this.#database, {
      table: 'players',
      matching: this.#database.queries.selectFrom('players').where('project_id', '=', projectId),
      id: 'id',
      sort: { field: sortColumns[field], direction },
      page,
      total: listTotal(this.#database, projectId, 'players'),
      toItem: playerFrom,
    });
  }

  add(player: Player): void {
    this.#database.run(
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

  change(playerId: string, values: { name: string | undefined; look: PlayerLook }, atMs: number): void {
    this.#update(playerId, {
      ...nameColumns(values.name),
      look: JSON.stringify(values.look),
      updated_at_ms: atMs,
    });
  }

  setLogo(playerId: string, logo: PlayerLogo | undefined, atMs: number): void {
    this.#update(playerId, { ...logoColumns(logo), updated_at_ms: atMs });
  }

  clearLogo(playerId: string): void {
    this.#update(playerId, logoColumns(undefined));
  }

  /** Returns false when rows still name it, and {@link detachSome} has to continue. */
  remove(playerId: string): boolean {
    const { queries } = this.#database;
    const isDetached = this.#database.transaction(() => {
      this.#database.run(queries.deleteFrom('players').where('id', '=', playerId));
      this.#database.run(
        queries
          .insertInto('removed_players')
          .values({ id: playerId })
          .onConflict(conflict => conflict.doNothing()),
      );
      return this.#detachBatch(playerId) < detachBatchSize;
    });
    this.#removed.add(playerId);
    return isDetached;
  }

  /** Called for every video that is shown. */
  isRemoved(playerId: string): boolean {
    return this.#removed.has(playerId);
  }

  removed(): string[] {
    return [...this.#removed];
  }

  detachSome(playerId: string): { readonly rows: number; readonly isDetached: boolean } {
    const rows = this.#database.transaction(() => this.#detachBatch(playerId));
    return { rows, isDetached: rows < detachBatchSize };
  }

  forget(playerId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('removed_players').where('id', '=', playerId));
    this.#removed.delete(playerId);
  }

  #detachBatch(playerId: string): number {
    let rows = 0;
    for (const themed of this.#themedRows) rows += themed.detachPlayer(playerId, detachBatchSize - rows);
    return rows;
  }

  #update(playerId: string, values: Partial<PlayerRow>): void {
    this.#database.run(this.#database.queries.updateTable('players').set(values).where('id', '=', playerId));
  }
}

function nameColumns(name: string | undefined): Pick<PlayerRow, 'name' | 'name_folded'> {
  return { name: name ?? null, name_folded: foldText(name ?? '') };
}

function logoColumns(logo: PlayerLogo | undefined): Pick<PlayerRow, 'logo_file' | 'logo_bytes' | 'link'> {
  return { logo_file: logo?.file ?? null, logo_bytes: logo?.bytes ?? null, link: logo?.link ?? null };
}

function playerFrom(row: PlayerRow): Player {
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
