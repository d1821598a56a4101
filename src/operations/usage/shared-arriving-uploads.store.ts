import { sql } from 'kysely';
import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import { databaseNowMs } from '../../store/database-clock.ts';
import type { Arrival, ArrivingTotals, ArrivingUploads, NewArrival } from './arriving-uploads.ts';

const leaseMs = 60_000;
const renewIntervalMs = 15_000;

/**
 * Arriving uploads of all servers that share the database. Those of a server that dies are forgotten after a
 * minute.
 */
export class SharedArrivingUploads implements ArrivingUploads {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #receiverId = newUuid();
  readonly #renewals: OnDemandInterval;
  /** Uploads with rows that could not be deleted: a renewal would keep them. */
  readonly #ended = new Set<string>();
  #count = 0;

  constructor(options: { database: Database; clock: Clock; log: Logger }) {
    this.#database = options.database;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#renewals = new OnDemandInterval(renewIntervalMs, () => {
      if (this.#count > 0) void this.#renew();
      else this.#ended.clear();
      return this.#count > 0;
    });
  }

  async add(projectId: string, admit: (connection: Connection) => Promise<NewArrival>): Promise<Arrival> {
    const id = newUuid();
    await this.#database.transaction(async transaction => {
      await transaction.lock('upload-limit', projectId);
      const { videoId, bytes, isNew } = await admit(transaction);
      const { queries } = transaction;
      await transaction.run(
        queries
          .deleteFrom('arriving_uploads')
          .where('project_id', '=', projectId)
          .where('lease_until_ms', '<=', this.#now(transaction)),
      );
      const arrival = { id, project_id: projectId, video_id: videoId ?? null, bytes, is_new: isNew ? 1 : 0 };
      await transaction.run(
        queries
          .insertInto('arriving_uploads')
          .values({ ...arrival, receiver_id: this.#receiverId, lease_until_ms: this.#leaseEnd(transaction) }),
      );
    });
    this.#count += 1;
    this.#renewals.wake();
    return { setVideo: videoId => this.#setVideo(id, videoId), end: () => this.#end(id) };
  }

  async totals(projectId: string, connection: Connection = this.#database): Promise<ArrivingTotals> {
    const row = await connection.first(
      connection.queries
        .selectFrom('arriving_uploads')
        .select(({ cast, fn, val }) => [
          cast<number>(fn.coalesce(fn.sum('bytes'), val(0)), 'bigint').as('bytes'),
          cast<number>(fn.coalesce(fn.sum('is_new'), val(0)), 'bigint').as('newUploads'),
        ])
        .where('project_id', '=', projectId)
        .where('lease_until_ms', '>', this.#now(connection)),
    );
    return row ?? { bytes: 0, newUploads: 0 };
  }

  async isReceiving(videoId: string, connection: Connection = this.#database): Promise<boolean> {
    const arrival = await connection.first(
      connection.queries
        .selectFrom('arriving_uploads')
        .select('id')
        .where('video_id', '=', videoId)
        .where('lease_until_ms', '>', this.#now(connection))
        .limit(1),
    );
    return arrival !== undefined;
  }

  async #setVideo(id: string, videoId: string): Promise<void> {
    const { queries } = this.#database;
    await this.#database.run(
      queries.updateTable('arriving_uploads').set({ video_id: videoId }).where('id', '=', id),
    );
  }

  async #end(id: string): Promise<void> {
    this.#count -= 1;
    this.#ended.add(id);
    await this.#removeEnded();
  }

  async #removeEnded(): Promise<void> {
    const { queries } = this.#database;
    const ids = [...this.#ended];
    try {
      await this.#database.run(queries.deleteFrom('arriving_uploads').where('id', 'in', ids));
      for (const id of ids) this.#ended.delete(id);
    } catch (error) {
      this.#log.warn('arrival-not-ended', { error: messageOf(error) });
    }
  }

  async #renew(): Promise<void> {
    if (this.#ended.size > 0) await this.#removeEnded();
    const { queries } = this.#database;
    await this.#database
      .run(
        queries
          .updateTable('arriving_uploads')
          .set({ lease_until_ms: this.#leaseEnd(this.#database) })
          .where('receiver_id', '=', this.#receiverId),
      )
      .catch((error: unknown) => this.#log.warn('arrivals-not-renewed', { error: messageOf(error) }));
  }

  #now(connection: Connection) {
    return databaseNowMs(connection, this.#clock);
  }

  #leaseEnd(connection: Connection) {
    return sql<number>`${this.#now(connection)} + ${leaseMs}`;
  }
}
