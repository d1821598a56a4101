import type { Database } from '../../store/database.ts';
import { foldText } from '../../store/folded-text.ts';
import { listTotal } from '../../store/list-total.ts';
import type { LiveStreamRow } from '../../store/tables.ts';
import type { LiveQualities, LiveStream, LiveStreamChanges } from './live-stream.ts';

/** Which live streams a list shows. */
export interface LiveStreamFilter {
  readonly streamKey?: string | undefined;
  readonly name?: string | undefined;
}

/** Who publishes when a stream key is used. */
export interface StreamKeyOwner {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  readonly accountSuspended: boolean;
  readonly accountUpgraded: boolean;
  readonly name: string;
  readonly restreams: LiveStream['restreams'];
  readonly qualities: LiveStream['qualities'];
  readonly record: LiveStream['record'];
}

const sortColumns = { name: 'name_folded', createdAt: 'created_at_ms', updatedAt: 'updated_at_ms' } as const;

interface StreamKeyOwnerRow {
  id: string;
  project_id: string;
  environment: 'sandbox' | 'production';
  is_suspended: number;
  is_upgraded: number;
  name: string;
  restreams: string;
  qualities: LiveQualities | null;
  is_recorded: number | null;
}

/** Live streams in the database. */
export class LiveStreamsStore {
  readonly #database: Database;
  readonly #find;
  readonly #findByKey;
  readonly #findViewerRow;

  constructor(database: Database) {
    this.#database = database;
    this.#find = database.sqlite.prepare<[string, string], LiveStreamRow>(
      'SELECT * FROM live_streams WHERE id = ? AND project_id = ?',
    );
    this.#findByKey = database.sqlite.prepare<[string], StreamKeyOwnerRow>(
      `SELECT s.id, s.project_id, p.environment, a.is_suspended, a.is_upgraded, s.name, s.restreams, s.qualities, s.is_recorded
       FROM live_streams s JOIN projects p ON p.id = s.project_id JOIN accounts a ON a.id = p.account_id
       WHERE s.stream_key = ?`,
    );
    this.#findViewerRow = database.sqlite.prepare<
      [string],
      Pick<LiveStreamRow, 'project_id' | 'name' | 'is_public' | 'thumbnail_type' | 'player_id'>
    >('SELECT project_id, name, is_public, thumbnail_type, player_id FROM live_streams WHERE id = ?');
  }

  /** A live stream of a project. */
  find(projectId: string, liveStreamId: string): LiveStream | undefined {
    const row = this.#find.get(liveStreamId, projectId);
    return row === undefined ? undefined : liveStreamFrom(row);
  }

  /** The stream that a key publishes to; one step through an index. */
  findByStreamKey(streamKey: string): StreamKeyOwner | undefined {
    const row = this.#findByKey.get(streamKey);
    if (row === undefined) return undefined;
    return {
      liveStreamId: row.id,
      projectId: row.project_id,
      environment: row.environment,
      accountSuspended: row.is_suspended === 1,
      accountUpgraded: row.is_upgraded === 1,
      name: row.name,
      restreams: JSON.parse(row.restreams) as LiveStream['restreams'],
      qualities: row.qualities ?? undefined,
      record: isRecordedFrom(row),
    };
  }

  /** What viewers' requests need of a stream, whosever it is. */
  findForViewers(liveStreamId: string):
    | {
        projectId: string;
        name: string;
        public: boolean;
        hasThumbnail: boolean;
        playerId: string | undefined;
      }
    | undefined {
    const row = this.#findViewerRow.get(liveStreamId);
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      name: row.name,
      public: row.is_public === 1,
      hasThumbnail: row.thumbnail_type !== null,
      playerId: row.player_id ?? undefined,
    };
  }

  /** One page of a project's live streams, and how many there are on all pages. */
  list(
    projectId: string,
    filter: LiveStreamFilter,
    sort: { field: keyof typeof sortColumns; direction: 'asc' | 'desc' },
    page: { currentPage: number; pageSize: number },
  ): { streams: LiveStream[]; total: number } {
    const total = this.#total(projectId, filter);
    const offset = (page.currentPage - 1) * page.pageSize;
    if (offset >= total) return { streams: [], total };
    const column = sortColumns[sort.field];
    // Skipping rows is cheap only while it stays in the index, so the page is found first and read afterwards.
    const ids = this.#matching(projectId, filter)
      .select('id')
      .orderBy(column, sort.direction)
      .orderBy('id', sort.direction)
      .limit(page.pageSize)
      .offset(offset);
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('live_streams')
        .selectAll()
        .where('id', 'in', ids)
        .orderBy(column, sort.direction)
        .orderBy('id', sort.direction),
    );
    return { streams: rows.map(liveStreamFrom), total };
  }

  /** Adds a live stream. */
  add(stream: LiveStream): void {
    this.#database.run(
      this.#database.queries.insertInto('live_streams').values({
        id: stream.liveStreamId,
        project_id: stream.projectId,
        name: stream.name,
        name_folded: foldText(stream.name),
        stream_key: stream.streamKey,
        is_public: Number(stream.public),
        player_id: stream.playerId ?? null,
        restreams: JSON.stringify(stream.restreams),
        qualities: stream.qualities ?? null,
        is_recorded: stream.record === undefined ? null : Number(stream.record),
        thumbnail_type: stream.thumbnailType ?? null,
        created_at_ms: stream.createdAtMs,
        updated_at_ms: stream.updatedAtMs,
      }),
    );
  }

  /** Changes what is given and leaves the rest. */
  change(projectId: string, liveStreamId: string, changes: LiveStreamChanges, atMs: number): void {
    const { name, playerId, restreams, qualities, record } = changes;
    this.#update(projectId, liveStreamId, {
      ...(name === undefined ? {} : { name, name_folded: foldText(name) }),
      ...(changes.public === undefined ? {} : { is_public: Number(changes.public) }),
      ...(playerId === undefined ? {} : { player_id: playerId }),
      ...(restreams === undefined ? {} : { restreams: JSON.stringify(restreams) }),
      ...(qualities === undefined ? {} : { qualities }),
      ...(record === undefined ? {} : { is_recorded: record === null ? null : Number(record) }),
      updated_at_ms: atMs,
    });
  }

  /** Notes which kind of image was put in place, or that there is none any more. */
  setThumbnail(projectId: string, liveStreamId: string, type: string | null, atMs: number): void {
    this.#update(projectId, liveStreamId, { thumbnail_type: type, updated_at_ms: atMs });
  }

  /** Clears an image whose file is lost. */
  clearThumbnail(liveStreamId: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('live_streams')
        .set({ thumbnail_type: null })
        .where('id', '=', liveStreamId),
    );
  }

  /** Replaces the key that encoders publish with. */
  setStreamKey(projectId: string, liveStreamId: string, streamKey: string, atMs: number): void {
    this.#update(projectId, liveStreamId, { stream_key: streamKey, updated_at_ms: atMs });
  }

  /** Removes a live stream and the history of its broadcasts. */
  remove(projectId: string, liveStreamId: string): void {
    this.#database.run(
      this.#database.queries
        .deleteFrom('live_streams')
        .where('id', '=', liveStreamId)
        .where('project_id', '=', projectId),
    );
  }

  /** Unsets a player theme on up to `limit` live streams that name it. Returns the number of live streams. */
  detachPlayer(playerId: string, limit: number): number {
    const { queries } = this.#database;
    const some = queries
      .selectFrom('live_streams')
      .select('id')
      .where('player_id', '=', playerId)
      .limit(limit);
    return this.#database.run(
      queries.updateTable('live_streams').set({ player_id: null }).where('id', 'in', some),
    );
  }

  #update(projectId: string, liveStreamId: string, changes: Partial<LiveStreamRow>): void {
    this.#database.run(
      this.#database.queries
        .updateTable('live_streams')
        .set(changes)
        .where('id', '=', liveStreamId)
        .where('project_id', '=', projectId),
    );
  }

  #matching(projectId: string, filter: LiveStreamFilter) {
    let query = this.#database.queries.selectFrom('live_streams').where('project_id', '=', projectId);
    if (filter.streamKey !== undefined) query = query.where('stream_key', '=', filter.streamKey);
    const { name } = filter;
    if (name !== undefined) {
      query = query.where(expression =>
        expression(expression.fn<number>('instr', ['name_folded', expression.val(foldText(name))]), '>', 0),
      );
    }
    return query;
  }

  #total(projectId: string, filter: LiveStreamFilter): number {
    if (filter.streamKey === undefined && filter.name === undefined) {
      return listTotal(this.#database, projectId, 'live-streams');
    }
    const row = this.#database.first(
      this.#matching(projectId, filter).select(expression => expression.fn.countAll<number>().as('total')),
    );
    return row?.total ?? 0;
  }
}

function liveStreamFrom(row: LiveStreamRow): LiveStream {
  return {
    liveStreamId: row.id,
    projectId: row.project_id,
    name: row.name,
    streamKey: row.stream_key,
    public: row.is_public === 1,
    playerId: row.player_id ?? undefined,
    restreams: JSON.parse(row.restreams) as LiveStream['restreams'],
    qualities: row.qualities ?? undefined,
    record: isRecordedFrom(row),
    thumbnailType: row.thumbnail_type ?? undefined,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function isRecordedFrom({ is_recorded }: Pick<LiveStreamRow, 'is_recorded'>): boolean | undefined {
  return is_recorded === null ? undefined : is_recorded === 1;
}
