import { sql } from 'kysely';
import { dayMs } from '../../../shared/day.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { lockForUpdate } from '../../../store/row-locks.ts';
import { expiryNoticeMs } from '../videos/video.ts';

export interface ExpiringVideo {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string | null;
  readonly title: string;
  readonly expiresAtMs: number;
}

export interface BatchPosition {
  readonly createdAtMs: number;
  readonly id: string;
}

const batchSize = 200;

export class RetentionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async keepVideosDays(projectId: string): Promise<number | undefined> {
    const row = await this.#database.first(
      this.#database.queries.selectFrom('projects').select('keep_videos_days').where('id', '=', projectId),
    );
    return row?.keep_videos_days ?? undefined;
  }

  async setKeepVideosDays(projectId: string, days: number | null): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('projects')
        .set({ keep_videos_days: days })
        .where('id', '=', projectId),
    );
  }

  /**
   * Sets when the next videos of a project expire, oldest first. Videos that already have such a time keep it.
   * @returns the position to go on after; undefined after the last one
   */
  expireNext(
    projectId: string,
    after: BatchPosition | undefined,
    { days, minExpiresAtMs }: { readonly days: number; readonly minExpiresAtMs: number },
  ): Promise<BatchPosition | undefined> {
    return this.#changeNext(projectId, after, (videoIds, transaction) => {
      const created = sql<number>`created_at_ms + ${days * dayMs}`;
      const expiresAt = sql<number>`CASE WHEN ${created} > ${minExpiresAtMs} THEN ${created} ELSE ${minExpiresAtMs} END`;
      return transaction.run(
        transaction.queries
          .updateTable('videos')
          .set({
            expires_at_ms: expiresAt,
            expiry_notice_at_ms: sql<number>`${expiresAt} - ${expiryNoticeMs}`,
          })
          .where('id', 'in', videoIds)
          .where('expires_at_ms', 'is', null),
      );
    });
  }

  /** Keeps the next videos of a project, oldest first. @returns as {@link expireNext} does */
  keepNext(projectId: string, after: BatchPosition | undefined): Promise<BatchPosition | undefined> {
    return this.#changeNext(projectId, after, (videoIds, transaction) =>
      transaction.run(
        transaction.queries
          .updateTable('videos')
          .set({ expires_at_ms: null, expiry_notice_at_ms: null })
          .where('id', 'in', videoIds)
          .where('expires_at_ms', 'is not', null),
      ),
    );
  }

  /** Lists the videos that expire next, in their order. */
  listNext(projectId: string, limit: number): Promise<ExpiringVideo[]> {
    return this.#database.all(
      this.#expiring().where('project_id', '=', projectId).orderBy('expires_at_ms').limit(limit),
    );
  }

  listToAnnounce(untilMs: number, limit: number): Promise<ExpiringVideo[]> {
    return this.#database.all(
      this.#expiring()
        .where('expiry_notice_at_ms', '<=', untilMs)
        .orderBy('expiry_notice_at_ms')
        .limit(limit),
    );
  }

  /** Returns false when it was announced, or its time was changed meanwhile. */
  async noteAnnounced({ videoId, expiresAtMs }: ExpiringVideo, transaction: Transaction): Promise<boolean> {
    const count = await transaction.run(
      transaction.queries
        .updateTable('videos')
        .set({ expiry_notice_at_ms: null })
        .where('id', '=', videoId)
        .where('expires_at_ms', '=', expiresAtMs)
        .where('expiry_notice_at_ms', 'is not', null),
    );
    return count > 0;
  }

  listExpired(untilMs: number, limit: number): Promise<ExpiringVideo[]> {
    return this.#database.all(
      this.#expiring().where('expires_at_ms', '<=', untilMs).orderBy('expires_at_ms').limit(limit),
    );
  }

  /** Keeps others from changing the video until the transaction ends. Returns false when its time was changed. */
  async hold({ videoId, expiresAtMs }: ExpiringVideo, transaction: Transaction): Promise<boolean> {
    const video = transaction.queries
      .selectFrom('videos')
      .select('id')
      .where('id', '=', videoId)
      .where('expires_at_ms', '=', expiresAtMs);
    return (await transaction.first(lockForUpdate(video, transaction))) !== undefined;
  }

  #expiring() {
    return this.#database.queries
      .selectFrom('videos')
      .select(['id as videoId', 'project_id as projectId', 'live_stream_id as liveStreamId', 'title'])
      .select(({ ref }) => ref('expires_at_ms').$notNull().as('expiresAtMs'))
      .where('expires_at_ms', 'is not', null);
  }

  #changeNext(
    projectId: string,
    after: BatchPosition | undefined,
    change: (videoIds: readonly string[], transaction: Transaction) => Promise<unknown>,
  ): Promise<BatchPosition | undefined> {
    return this.#database.transaction(async transaction => {
      let query = transaction.queries
        .selectFrom('videos')
        .select(['id', 'created_at_ms as createdAtMs'])
        .where('project_id', '=', projectId)
        .where('is_discarded', '=', 0);
      if (after !== undefined) {
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('created_at_ms', 'id'), '>', tuple(after.createdAtMs, after.id)),
        );
      }
      const batch = await transaction.all(query.orderBy('created_at_ms').orderBy('id').limit(batchSize));
      if (batch.length > 0) {
        await change(
          batch.map(({ id }) => id),
          transaction,
        );
      }
      return batch.length < batchSize ? undefined : batch.at(-1);
    });
  }
}
