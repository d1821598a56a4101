import type { Database } from '../../store/database.ts';
import { foldText } from '../../store/folded-text.ts';
import { listTotal } from '../../store/list-total.ts';
import type { PlayerRow } from '../../store/tables.ts';
import type { Player, PlayerLogo, PlayerLook } from './player.ts';

const sortColumns = { name: 'name_folded', createdAt: 'created_at_ms', updatedAt: 'updated_at_ms' } as const;

/** Rows that are taken a theme off at once: a few milliseconds. */
const detachBatchSize = 50;

/**
 * Player themes in the database. A theme may be named by a million videos, which cannot all be changed when it is deleted: some
 * are at once, and for the others it is written down that the theme they name is gone, until they have been changed too. What is
 * written down also stands for the theme's files, until those are gone.
 */
export class PlayersStore {
  readonly #database: Database;
  readonly #find;
  readonly #detachVideos;
  readonly #detachLiveStreams;
  /** Themes that are gone while rows may still name them, or files of theirs be there. */
  readonly #removed: Set<string>;

  constructor(database: Database) {
    const { sqlite, queries } = database;
    this.#database = database;
    this.#find = sqlite.prepare<[string], PlayerRow>('SELECT * FROM players WHERE id = ?');
    this.#detachVideos = sqlite.prepare<[string, number]>(
      `UPDATE videos SET player_id = NULL
       WHERE number IN (SELECT number FROM videos WHERE player_id = ? LIMIT ?)`,
    );
    this.#detachLiveStreams = sqlite.prepare<[string, number]>(
      `UPDATE live_streams SET player_id = NULL
       WHERE rowid IN (SELECT rowid FROM live_streams WHERE player_id = ? LIMIT ?)`,
    );
    this.#removed = new Set(
      database.all(queries.selectFrom('removed_players').select('id')).map(({ id }) => id),
    );
  }

  /** A theme, whosever it is. */
  findAny(playerId: string): Player | undefined {
    const row = this.#find.get(playerId);
    return row === undefined ? undefined : playerFrom(row);
  }

  /** A theme of a project. */
  find(projectId: string, playerId: string): Player | undefined {
    const player = this.findAny(playerId);
    return player?.projectId === projectId ? player : undefined;
  }

  /** One page of a project's themes, and how many there are on all pages. */
  list(
    projectId: string,
    sort: { field: keyof typeof sortColumns; direction: 'asc' | 'desc' },
    page: { currentPage: number; pageSize: number },
  ): { players: Player[]; total: number } {
    const { queries } = this.#database;
    const total = listTotal(this.#database, projectId, 'players');
    const offset = (page.currentPage - 1) * page.pageSize;
    if (offset >= total) return { players: [], total };
    const column = sortColumns[sort.field];
    // Skipping rows is cheap only while it stays in the index, so the page is found first and read afterwards.
    const ids = queries
      .selectFrom('players')
      .select('id')
      .where('project_id', '=', projectId)
      .orderBy(column, sort.direction)
      .orderBy('id', sort.direction)
      .limit(page.pageSize)
      .offset(offset);
    const rows = this.#database.all(
      queries
        .selectFrom('players')
        .selectAll()
        .where('id', 'in', ids)
        .orderBy(column, sort.direction)
        .orderBy('id', sort.direction),
    );
    return { players: rows.map(playerFrom), total };
  }

  /** Adds a theme. */
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

  /** Gives a theme another name and look. */
  change(playerId: string, values: { name: string | undefined; look: PlayerLook }, atMs: number): void {
    this.#update(playerId, {
      ...nameColumns(values.name),
      look: JSON.stringify(values.look),
      updated_at_ms: atMs,
    });
  }

  /** Gives a theme another logo, or none. False when the theme is gone. */
  setLogo(playerId: string, logo: PlayerLogo | undefined, atMs: number): boolean {
    return this.#update(playerId, { ...logoColumns(logo), updated_at_ms: atMs }) > 0;
  }

  /** Removes a theme; what named it names none from then on. True when no row names it, false when {@link detachSome} has to go on. */
  remove(playerId: string): boolean {
    const { queries } = this.#database;
    const isFree = this.#database.transaction(() => {
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
    return isFree;
  }

  /** Whether a theme that a row names is gone. Asked for each video that is shown. */
  isRemoved(playerId: string): boolean {
    return this.#removed.has(playerId);
  }

  /** Themes that were removed and are not forgotten yet. */
  removed(): string[] {
    return [...this.#removed];
  }

  /** Takes a removed theme off some of the rows that name it still. */
  detachSome(playerId: string): { readonly freed: number; readonly isFree: boolean } {
    const freed = this.#database.transaction(() => this.#detachBatch(playerId));
    return { freed, isFree: freed < detachBatchSize };
  }

  /** Forgets a removed theme: no row names it, and its files are gone. */
  forget(playerId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('removed_players').where('id', '=', playerId));
    this.#removed.delete(playerId);
  }

  #detachBatch(playerId: string): number {
    const videos = this.#detachVideos.run(playerId, detachBatchSize).changes;
    return videos + this.#detachLiveStreams.run(playerId, detachBatchSize - videos).changes;
  }

  #update(playerId: string, values: Partial<PlayerRow>): number {
    return this.#database.run(
      this.#database.queries.updateTable('players').set(values).where('id', '=', playerId),
    );
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
