import { newId } from '../../../shared/ids.ts';
import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import type { Row } from '../../../store/tables.ts';

export type StoredBroadcast = Row<'broadcasts'>;

export interface OpenedBroadcast<State extends string> {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly state: State;
  readonly startedAtMs: number;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** The encoder's name for itself, or `''`. */
  readonly encoder: string;
}

export interface BroadcastChanges<State extends string> {
  readonly state?: State;
  readonly remoteAddress?: string;
  readonly encoder?: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
}

export interface BroadcastHealth {
  readonly averageBitrateBitsPerSecond: number;
  readonly peakBitrateBitsPerSecond: number;
  readonly averageFramesPerSecond: number;
  readonly longestKeyframeIntervalSeconds: number | undefined;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly droppedConnections: number;
  readonly awaySeconds: number;
}

/** Limit of one live stream. */
const maxKeptBroadcasts = 500;

export class BroadcastsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(
    projectId: string,
    liveStreamId: string,
    { direction }: Sort<'startedAt'>,
    page: PageRequest,
  ): Promise<ListResult<StoredBroadcast>> {
    const matching = this.#database.queries
      .selectFrom('broadcasts')
      .where('live_stream_id', '=', liveStreamId)
      .where('project_id', '=', projectId);
    const counted = await this.#database.first(
      matching.select(({ fn }) => fn.countAll<number>().as('total')),
    );
    const items = await this.#database.all(
      matching
        .selectAll()
        .orderBy('started_at_ms', direction)
        .orderBy('id', direction)
        .limit(page.pageSize)
        .offset((page.currentPage - 1) * page.pageSize),
    );
    return { items, total: counted?.total ?? 0 };
  }

  async findLiveOfSuspended(): Promise<string[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('broadcasts')
        .innerJoin('projects', 'projects.id', 'broadcasts.project_id')
        .innerJoin('accounts', 'accounts.id', 'projects.account_id')
        .select('broadcasts.live_stream_id')
        .where('broadcasts.ended_at_ms', 'is', null)
        .where('accounts.is_suspended', '=', 1),
    );
    return rows.map(row => row.live_stream_id);
  }

  async findUnfinished(connection: Connection = this.#database): Promise<string[]> {
    const rows = await connection.all(
      connection.queries.selectFrom('broadcasts').select('id').where('ended_at_ms', 'is', null),
    );
    return rows.map(({ id }) => id);
  }

  findPlayed(
    broadcastId: string,
    connection: Connection = this.#database,
  ): Promise<{ projectId: string; liveStreamId: string } | undefined> {
    return connection.first(
      connection.queries
        .selectFrom('broadcasts')
        .select(['project_id as projectId', 'live_stream_id as liveStreamId'])
        .where('id', '=', broadcastId)
        .where('live_at_ms', 'is not', null),
    );
  }

  /** Removes the oldest broadcasts of a live stream that restarts all day. */
  async add(broadcast: OpenedBroadcast<string>, connection: Connection = this.#database): Promise<string> {
    const id = newId('br');
    await connection.transaction(async transaction => {
      await transaction.run(
        transaction.queries.insertInto('broadcasts').values({
          id,
          project_id: broadcast.projectId,
          live_stream_id: broadcast.liveStreamId,
          state: broadcast.state,
          started_at_ms: broadcast.startedAtMs,
          protocol: broadcast.protocol,
          remote_address: broadcast.remoteAddress,
          encoder: broadcast.encoder,
          ...unknownUntilLater,
        }),
      );
      await this.#removeOldest(broadcast.liveStreamId, transaction);
    });
    return id;
  }

  async change(
    broadcastId: string,
    changes: BroadcastChanges<string>,
    connection: Connection = this.#database,
  ): Promise<void> {
    const row = {
      state: changes.state,
      remote_address: changes.remoteAddress,
      encoder: changes.encoder,
      video_codec: changes.videoCodec,
      audio_codec: changes.audioCodec,
      width: changes.width,
      height: changes.height,
    };
    // Kysely leaves undefined columns out, but refuses an update without columns.
    if (Object.values(row).every(value => value === undefined)) return;
    await connection.run(connection.queries.updateTable('broadcasts').set(row).where('id', '=', broadcastId));
  }

  /** Returns false when it already was. */
  async markPlayable(
    broadcastId: string,
    atMs: number,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const changed = await connection.run(
      connection.queries
        .updateTable('broadcasts')
        .set({ live_at_ms: atMs })
        .where('id', '=', broadcastId)
        .where('live_at_ms', 'is', null),
    );
    return changed > 0;
  }

  /** Returns false when it has ended already. */
  async end(
    broadcastId: string,
    atMs: number,
    reason: string,
    health: BroadcastHealth | undefined,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const changed = await connection.run(
      connection.queries
        .updateTable('broadcasts')
        .set({
          state: 'ended',
          ended_at_ms: atMs,
          end_reason: reason,
          node_id: null,
          multivariant: null,
          report: null,
          ...(health === undefined ? {} : healthColumns(health)),
        })
        .where('id', '=', broadcastId)
        .where('ended_at_ms', 'is', null),
    );
    return changed > 0;
  }

  removeBefore(atMs: number): Promise<number> {
    const { queries } = this.#database;
    const ended = queries.selectFrom('broadcasts').select('id').where('ended_at_ms', '<', atMs);
    return removeInBatches(count =>
      this.#database.run(queries.deleteFrom('broadcasts').where('id', 'in', ended.limit(count))),
    );
  }

  async #removeOldest(liveStreamId: string, transaction: Transaction): Promise<void> {
    const { queries } = transaction;
    const oldest = queries
      .selectFrom('broadcasts')
      .select('id')
      .where('live_stream_id', '=', liveStreamId)
      .orderBy('started_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(maxKeptBroadcasts)
      .offset(maxKeptBroadcasts);
    await transaction.run(
      queries.deleteFrom('broadcasts').where('id', 'in', oldest).where('ended_at_ms', 'is not', null),
    );
  }
}

const unknownUntilLater = {
  ended_at_ms: null,
  end_reason: null,
  video_codec: null,
  audio_codec: null,
  width: null,
  height: null,
  live_at_ms: null,
  average_bits_per_second: null,
  peak_bits_per_second: null,
  average_frames_per_second: null,
  longest_gop_ms: null,
  dropped_frames: null,
  missing_frames: null,
  dropped_connections: null,
  away_ms: null,
} as const;

function healthColumns(health: BroadcastHealth) {
  const gopSeconds = health.longestKeyframeIntervalSeconds;
  return {
    average_bits_per_second: health.averageBitrateBitsPerSecond,
    peak_bits_per_second: health.peakBitrateBitsPerSecond,
    average_frames_per_second: health.averageFramesPerSecond,
    longest_gop_ms: gopSeconds === undefined ? null : Math.round(gopSeconds * 1000),
    dropped_frames: health.droppedFrames,
    missing_frames: health.missingFrames,
    dropped_connections: health.droppedConnections,
    away_ms: Math.round(health.awaySeconds * 1000),
  };
}
