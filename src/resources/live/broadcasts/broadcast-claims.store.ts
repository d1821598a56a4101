import { sql } from 'kysely';
import type { Clock } from '../../../shared/clock.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { databaseNowMs } from '../../../store/database-clock.ts';
import { jsonRows, textQuery } from '../../../store/raw-query.ts';
import type { Row } from '../../../store/tables.ts';

/** The servers that package broadcasts. Times are those of the database's clock. */
export interface ClaimedBroadcast {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly state: string;
  readonly startedAtMs: number;
  readonly nodeId: string | undefined;
  readonly claim: number;
  readonly firstSequence: number;
  readonly claimedAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly wantedBy: string | undefined;
  readonly requestedEnd: string | undefined;
  readonly targetDurationSeconds: number | undefined;
  readonly multivariant: string | undefined;
  /** True when its server has stored a report: see {@link BroadcastClaimsStore.findReports}. */
  readonly hasReport: boolean;
  readonly width: number | undefined;
  readonly height: number | undefined;
}

/** Columns that change with a broadcast, for servers that look for changes. */
export interface BroadcastVersion
  extends Pick<
    ClaimedBroadcast,
    'broadcastId' | 'state' | 'claim' | 'expiresAtMs' | 'requestedEnd' | 'hasReport'
  > {
  readonly hasMultivariant: boolean;
}

/** A claim of the server that asks. */
export type OwnClaim = Pick<
  ClaimedBroadcast,
  'broadcastId' | 'liveStreamId' | 'claim' | 'requestedEnd' | 'wantedBy'
>;

/** The report of a server about a broadcast that it packages. */
export interface OwnReport {
  readonly broadcastId: string;
  readonly claim: number;
  readonly multivariant: string;
  readonly targetDurationSeconds: number;
  readonly report: string;
}

const versionColumns = ['id', 'state', 'claim', 'expires_at_ms', 'requested_end'] as const;
const columns = [
  ...versionColumns,
  ...(['live_stream_id', 'project_id', 'started_at_ms', 'node_id', 'first_sequence'] as const),
  ...(['claimed_at_ms', 'wanted_by', 'target_duration_seconds', 'multivariant', 'width', 'height'] as const),
] as const;
/** Reports are long, and change all the time. */
const hasReport = sql<number>`CASE WHEN report IS NULL THEN 0 ELSE 1 END`.as('has_report');
const hasMultivariant = sql<number>`CASE WHEN multivariant IS NULL THEN 0 ELSE 1 END`.as('has_multivariant');
/** Rows that one query names. */
const maxNamed = 500;

export class BroadcastClaimsStore {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async nowMs(connection: Connection = this.#database): Promise<number> {
    const now = sql<number>`${databaseNowMs(connection, this.#clock)}`.as('now');
    const row = await connection.first(connection.queries.selectNoFrom(now));
    return row!.now;
  }

  /** Lists broadcasts that have not ended, on any server or none. */
  async listVersions(): Promise<BroadcastVersion[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('broadcasts')
        .select(versionColumns)
        .select([hasReport, hasMultivariant])
        .where('ended_at_ms', 'is', null),
    );
    return rows.map(row => ({
      broadcastId: row.id,
      state: row.state,
      claim: row.claim,
      expiresAtMs: row.expires_at_ms ?? undefined,
      requestedEnd: row.requested_end ?? undefined,
      hasReport: row.has_report === 1,
      hasMultivariant: row.has_multivariant === 1,
    }));
  }

  /** Leaves out those that have ended. */
  findAllOpen(broadcastIds: readonly string[]): Promise<ClaimedBroadcast[]> {
    return this.#readNamed(broadcastIds, async ids => {
      const rows = await this.#database.all(selectOpen(this.#database).where('id', 'in', ids));
      return rows.map(claimedFrom);
    });
  }

  /** Returns what the servers of these broadcasts reported last, as JSON. */
  findReports(
    broadcastIds: readonly string[],
  ): Promise<{ readonly broadcastId: string; readonly report: string }[]> {
    return this.#readNamed(broadcastIds, async ids => {
      const { queries } = this.#database;
      const rows = await this.#database.all(
        queries.selectFrom('broadcasts').select(['id', 'report']).where('id', 'in', ids),
      );
      return rows.flatMap(({ id, report }) => (report === null ? [] : [{ broadcastId: id, report }]));
    });
  }

  async #readNamed<Found>(
    ids: readonly string[],
    read: (ids: readonly string[]) => Promise<Found[]>,
  ): Promise<Found[]> {
    const rows: Found[] = [];
    for (let first = 0; first < ids.length; first += maxNamed) {
      rows.push(...(await read(ids.slice(first, first + maxNamed))));
    }
    return rows;
  }

  /** The newest, unless it has ended. */
  async findOpen(
    liveStreamId: string,
    connection: Connection = this.#database,
  ): Promise<ClaimedBroadcast | undefined> {
    const row = await connection.first(
      selectOpen(connection)
        .where('live_stream_id', '=', liveStreamId)
        .orderBy('started_at_ms', 'desc')
        .limit(1),
    );
    return row && claimedFrom(row);
  }

  async listOf(nodeId: string, connection: Connection = this.#database): Promise<OwnClaim[]> {
    const rows = await connection.all(
      connection.queries
        .selectFrom('broadcasts')
        .select(['id', 'live_stream_id', 'claim', 'requested_end', 'wanted_by'])
        .where('ended_at_ms', 'is', null)
        .where('node_id', '=', nodeId),
    );
    return rows.map(row => ({
      broadcastId: row.id,
      liveStreamId: row.live_stream_id,
      claim: row.claim,
      requestedEnd: row.requested_end ?? undefined,
      wantedBy: row.wanted_by ?? undefined,
    }));
  }

  async take(
    broadcastId: string,
    { nodeId, firstSequence }: { readonly nodeId: string; readonly firstSequence: number },
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('broadcasts')
        .set({
          node_id: nodeId,
          claim: sql`claim + 1`,
          first_sequence: firstSequence,
          claimed_at_ms: databaseNowMs(transaction, this.#clock),
          expires_at_ms: null,
          wanted_by: null,
          multivariant: null,
          report: null,
        })
        .where('id', '=', broadcastId),
    );
  }

  /** The newest recording of a broadcast, if it is not finished and servers share their files. */
  async takeRecording(
    broadcastId: string,
    nodeId: string,
    transaction: Transaction,
  ): Promise<{ readonly videoId: string; readonly startedAtMs: number } | undefined> {
    const { queries } = transaction;
    const found = await transaction.first(
      queries
        .selectFrom('recordings')
        .select(['video_id as videoId', 'started_at_ms as startedAtMs'])
        .where('broadcast_id', '=', broadcastId)
        .where('node_id', 'is not', null)
        .orderBy('started_at_ms', 'desc')
        .limit(1),
    );
    if (found === undefined) return undefined;
    // Takes the lock that the server which finishes a recording takes, too.
    await transaction.lock('recording', found.videoId);
    const taken = await transaction.run(
      queries.updateTable('recordings').set({ node_id: nodeId }).where('video_id', '=', found.videoId),
    );
    return taken === 1 ? found : undefined;
  }

  /** Ends a claim; without a server within `graceMs`, the broadcast ends. Returns false when another one claimed it. */
  async release(
    { broadcastId, nodeId, claim }: Pick<ClaimedBroadcast, 'broadcastId' | 'claim'> & { nodeId: string },
    graceMs: number,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const changed = await connection.run(
      connection.queries
        .updateTable('broadcasts')
        .set({
          node_id: null,
          wanted_by: null,
          report: null,
          state: 'waiting',
          expires_at_ms: sql`${databaseNowMs(connection, this.#clock)} + ${graceMs}`,
        })
        .where('id', '=', broadcastId)
        .where('node_id', '=', nodeId)
        .where('claim', '=', claim)
        .where('ended_at_ms', 'is', null),
    );
    return changed === 1;
  }

  /** Locks the row until the end of the transaction. Returns false when the claim is over. */
  async lockOwn(
    { broadcastId, nodeId, claim }: Pick<ClaimedBroadcast, 'broadcastId' | 'claim'> & { nodeId: string },
    transaction: Transaction,
  ): Promise<boolean> {
    const locked = await transaction.run(
      transaction.queries
        .updateTable('broadcasts')
        .set({ claim })
        .where('id', '=', broadcastId)
        .where('node_id', '=', nodeId)
        .where('claim', '=', claim),
    );
    return locked === 1;
  }

  async setWantedBy(broadcastId: string, nodeId: string | null, connection: Connection): Promise<void> {
    await connection.run(
      connection.queries
        .updateTable('broadcasts')
        .set({ wanted_by: nodeId })
        .where('id', '=', broadcastId)
        .where('ended_at_ms', 'is', null),
    );
  }

  async requestEnd(broadcastId: string, reason: string, connection: Connection): Promise<void> {
    await connection.run(
      connection.queries
        .updateTable('broadcasts')
        .set({ requested_end: reason })
        .where('id', '=', broadcastId)
        .where('ended_at_ms', 'is', null),
    );
  }

  /** Stores reports of broadcasts whose claims are not over. */
  async report(nodeId: string, reports: readonly OwnReport[], connection: Connection): Promise<void> {
    const columns = {
      id: 'text',
      claim: 'bigint',
      multivariant: 'text',
      target: 'bigint',
      report: 'text',
    } as const;
    const text = `UPDATE broadcasts
      SET multivariant = r.multivariant, target_duration_seconds = r.target, report = r.report
      FROM ${jsonRows(connection.dialect, columns)} AS r
      WHERE broadcasts.id = r.id AND broadcasts.claim = r.claim AND broadcasts.node_id = ?`;
    for (let first = 0; first < reports.length; first += maxNamed) {
      const rows = reports
        .slice(first, first + maxNamed)
        .map(({ broadcastId, claim, multivariant, targetDurationSeconds, report }) => ({
          id: broadcastId,
          claim,
          multivariant,
          target: targetDurationSeconds,
          report,
        }));
      await connection.run(textQuery(connection, text, [JSON.stringify(rows), nodeId]));
    }
  }
}

function selectOpen({ queries }: Connection) {
  return queries.selectFrom('broadcasts').select(columns).select(hasReport).where('ended_at_ms', 'is', null);
}

function claimedFrom(
  row: Pick<Row<'broadcasts'>, (typeof columns)[number]> & { readonly has_report: number },
): ClaimedBroadcast {
  return {
    broadcastId: row.id,
    liveStreamId: row.live_stream_id,
    projectId: row.project_id,
    state: row.state,
    startedAtMs: row.started_at_ms,
    nodeId: row.node_id ?? undefined,
    claim: row.claim,
    firstSequence: row.first_sequence,
    claimedAtMs: row.claimed_at_ms ?? row.started_at_ms,
    expiresAtMs: row.expires_at_ms ?? undefined,
    wantedBy: row.wanted_by ?? undefined,
    requestedEnd: row.requested_end ?? undefined,
    targetDurationSeconds: row.target_duration_seconds ?? undefined,
    multivariant: row.multivariant ?? undefined,
    hasReport: row.has_report === 1,
    width: row.width ?? undefined,
    height: row.height ?? undefined,
  };
}
