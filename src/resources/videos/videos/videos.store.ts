import { type Compilable, type DeleteQueryBuilder, type DeleteResult, sql, type Updateable } from 'kysely';
import type { ListResult } from '../../../shared/list-page.ts';
import type { PlaybackPolicy } from '../../../shared/playback-policy.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { foldText } from '../../../store/folded-text.ts';
import { prepareQuery } from '../../../store/prepared-query.ts';
import { lockForKeyShare, lockForUpdate } from '../../../store/row-locks.ts';
import type { Row, Tables } from '../../../store/tables.ts';
import { holdAccess, passOnAccess, skipDeleted } from '../../playback/playback-policies/inherited-access.ts';
import { policyFrom } from '../../playback/playback-policies/playback-policy.store.ts';
import { createVideoLists } from './lists/create-video-lists.ts';
import type { VideoFilter } from './lists/video-filter.ts';
import type { ListPage, ListScope, VideoLists } from './lists/video-lists.ts';
import {
  type Clip,
  expiryNoticeMs,
  type Video,
  type VideoChanges,
  type WatermarkPlacement,
} from './video.ts';
import { isAudioOnlyOf, type SelectedVideoRow, videoColumns, videoFrom } from './video-row.ts';

type NewVideoRow = Omit<
  Row<'videos'>,
  | 'number'
  | 'is_discarded'
  | 'discarded_at_ms'
  | 'deletes_at_ms'
  | 'is_language_detected'
  | 'public_from'
  | 'policy_from'
  | 'viewer_limits'
  | 'plays'
  | 'state'
>;

const storedBytes = sql<number>`stored.source_bytes + stored.recording_bytes + stored.hls_bytes
  + stored.mp4_bytes + stored.image_bytes + stored.text_bytes`;

type Deletion = DeleteQueryBuilder<Tables, 'videos', DeleteResult>;
type IsInUse = (videoId: string, transaction: Transaction) => Promise<boolean>;

/** Triggers keep the data of lists in the same transaction; {@link VideoLists} searches texts. */
export class VideosStore {
  readonly #database: Database;
  readonly #lists: VideoLists;
  readonly #find;
  readonly #add;
  readonly #keepDays;

  constructor(database: Database) {
    const { queries } = database;
    this.#database = database;
    this.#lists = createVideoLists(database);
    this.#find = prepareQuery<{ id: string; projectId: string; isDiscarded: number }, SelectedVideoRow>(
      ({ id, projectId, isDiscarded }) =>
        queries
          .selectFrom('videos')
          .select(videoColumns)
          .select(sql.raw<number | null>(isAudioOnlyOf('videos.id')).as('is_audio_only'))
          .where('id', '=', id)
          .where('project_id', '=', projectId)
          .where('is_discarded', '=', isDiscarded),
    );
    this.#add = prepareQuery<NewVideoRow, unknown>(row =>
      queries.insertInto('videos').values({
        id: row.id,
        project_id: row.project_id,
        title: row.title,
        title_folded: row.title_folded,
        is_public: row.is_public,
        is_listed: row.is_listed,
        is_panoramic: row.is_panoramic,
        has_mp4_support: row.has_mp4_support,
        player_id: row.player_id,
        tags: row.tags,
        metadata: row.metadata,
        language: row.language,
        live_stream_id: row.live_stream_id,
        clip_start_ms: row.clip_start_ms,
        clip_end_ms: row.clip_end_ms,
        clip_precision: row.clip_precision,
        clipped_from: row.clipped_from,
        watermark: row.watermark,
        created_at_ms: row.created_at_ms,
        published_at_ms: row.published_at_ms,
        updated_at_ms: row.updated_at_ms,
        expires_at_ms: row.expires_at_ms,
        expiry_notice_at_ms: row.expiry_notice_at_ms,
        playback_policy: row.playback_policy,
        description: row.description,
        description_folded: row.description_folded,
      }),
    );
    this.#keepDays = {
      ofProject: prepareQuery<{ projectId: string }, { days: number | null }>(({ projectId }) =>
        queries.selectFrom('projects').select('keep_videos_days as days').where('id', '=', projectId),
      ),
      ofStream: prepareQuery<{ projectId: string; liveStreamId: string }, { days: number | null }>(
        ({ projectId, liveStreamId }) =>
          queries
            .selectFrom('projects as project')
            .leftJoin('live_streams as stream', join =>
              join.onRef('stream.project_id', '=', 'project.id').on('stream.id', '=', liveStreamId),
            )
            .select(({ fn }) =>
              fn.coalesce('stream.keep_recordings_days', 'project.keep_videos_days').as('days'),
            )
            .where('project.id', '=', projectId),
      ),
    };
  }

  async find(
    { projectId, isDiscarded }: ListScope,
    videoId: string,
    connection: Connection = this.#database,
  ): Promise<Video | undefined> {
    const row = await connection.first(
      this.#find({ id: videoId, projectId, isDiscarded: Number(isDiscarded) }),
    );
    return row === undefined ? undefined : videoFrom(row);
  }

  /** Keeps the video until the transaction ends. Returns false when it is not there. */
  async keep(
    { projectId, isDiscarded }: ListScope,
    videoId: string,
    transaction: Transaction,
  ): Promise<boolean> {
    const video = transaction.queries
      .selectFrom('videos')
      .select('id')
      .where('id', '=', videoId)
      .where('project_id', '=', projectId)
      .where('is_discarded', '=', Number(isDiscarded));
    return (await transaction.first(lockForKeyShare(video, transaction))) !== undefined;
  }

  /** Keeps the ids that are videos of the project, and not discarded. */
  idsAmong(projectId: string, videoIds: readonly string[]): Promise<string[]> {
    return this.#ids(
      this.#database.queries
        .selectFrom('videos')
        .select('id')
        .where('id', 'in', videoIds)
        .where('project_id', '=', projectId)
        .where('is_discarded', '=', 0),
    );
  }

  findDiscardedUntil(atMs: number, limit: number): Promise<string[]> {
    return this.#ids(
      this.#database.queries
        .selectFrom('videos')
        .select('id')
        .where('deletes_at_ms', '<=', atMs)
        .orderBy('deletes_at_ms')
        .limit(limit),
    );
  }

  /** Returns false when it was restored meanwhile. */
  removeDiscardedUntil(videoId: string, atMs: number): Promise<boolean> {
    return this.#remove(this.#deleteById(videoId).where('deletes_at_ms', '<=', atMs));
  }

  findOldestDiscarded(limit: number): Promise<{ readonly videoId: string; readonly bytes: number }[]> {
    return this.#database.all(
      this.#database.queries
        .selectFrom('videos as video')
        .leftJoin('stored_videos as stored', 'stored.video_id', 'video.id')
        .select('video.id as videoId')
        .select(({ fn, val }) => fn.coalesce(storedBytes, val(0)).as('bytes'))
        .where('video.deletes_at_ms', 'is not', null)
        .orderBy('video.deletes_at_ms')
        .limit(limit),
    );
  }

  removeDiscarded(videoId: string): Promise<boolean> {
    return this.#remove(this.#deleteById(videoId).where('deletes_at_ms', 'is not', null));
  }

  findEmpty(atMs: number, limit: number): Promise<string[]> {
    return this.#ids(
      this.#database.queries
        .selectFrom('empty_videos')
        .select('video_id as id')
        .where('created_at_ms', '<=', atMs)
        .orderBy('created_at_ms')
        .orderBy('video_id')
        .limit(limit),
    );
  }

  /** Keeps a video that `isInUse` when the transaction has begun. */
  removeEmpty(videoId: string, atMs: number, isInUse: IsInUse): Promise<boolean> {
    const remove = this.#deleteById(videoId)
      .where('is_discarded', '=', 0)
      .where('created_at_ms', '<=', atMs)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('video_sources').select('video_id').where('video_id', '=', videoId))),
      );
    return this.#removeUnused(videoId, remove, isInUse);
  }

  findOfSandbox(atMs: number, limit: number): Promise<string[]> {
    return this.#ids(
      this.#database.queries
        .selectFrom('sandbox_videos')
        .select('video_id as id')
        .where('completed_at_ms', '<=', atMs)
        .orderBy('completed_at_ms')
        .orderBy('video_id')
        .limit(limit),
    );
  }

  /** Keeps a video that `isInUse` when the transaction has begun. */
  removeOfSandbox(videoId: string, atMs: number, isInUse: IsInUse): Promise<boolean> {
    const remove = this.#deleteById(videoId).where(({ exists, selectFrom }) =>
      exists(
        selectFrom('video_sources')
          .select('video_id')
          .where('video_id', '=', videoId)
          .where('completed_at_ms', '<=', atMs),
      ),
    );
    return this.#removeUnused(videoId, remove, isInUse);
  }

  async list(scope: ListScope, filter: VideoFilter, page: ListPage): Promise<ListResult<Video>> {
    const { rows, total } = await this.#lists.list(scope, filter, page);
    return { items: rows.map(videoFrom), total };
  }

  /**
   * Days that a new video of the project is kept, or a new recording of the live stream. Undefined: until somebody
   * deletes it.
   */
  async keepDays(
    projectId: string,
    liveStreamId: string | undefined,
    connection: Connection = this.#database,
  ): Promise<number | undefined> {
    const { ofProject, ofStream } = this.#keepDays;
    const row = await connection.first(
      liveStreamId === undefined ? ofProject({ projectId }) : ofStream({ projectId, liveStreamId }),
    );
    return row?.days ?? undefined;
  }

  /** Reads what recordings take from their live stream. Undefined when it is deleted; the policy is null when it has none of its own. */
  async recordedFrom(
    projectId: string,
    liveStreamId: string,
    connection: Connection,
  ): Promise<{ policy: PlaybackPolicy | null; listed: boolean } | undefined> {
    const stream = connection.queries
      .selectFrom('live_streams')
      .select(['playback_policy', 'is_listed'])
      .where('id', '=', liveStreamId)
      .where('project_id', '=', projectId);
    const row = await connection.first(stream);
    return row && { policy: policyFrom(row.playback_policy) ?? null, listed: row.is_listed === 1 };
  }

  /** @param also called in the same transaction, after the video is added */
  async add(
    video: Video,
    order: { clip?: Clip | undefined; watermark?: WatermarkPlacement | undefined },
    also: (transaction: Transaction) => Promise<void>,
    connection: Connection = this.#database,
  ): Promise<void> {
    const titleFolded = foldText(video.title);
    const descriptionFolded = foldText(video.description);
    await connection.transaction(async transaction => {
      const add = this.#add({
        id: video.videoId,
        project_id: video.projectId,
        title: video.title,
        title_folded: titleFolded,
        is_public: Number(video.public),
        is_listed: Number(video.listed ?? false),
        is_panoramic: Number(video.panoramic),
        has_mp4_support: Number(video.mp4Support),
        player_id: video.playerId ?? null,
        tags: JSON.stringify(video.tags),
        metadata: JSON.stringify(video.metadata),
        language: video.language ?? null,
        live_stream_id: video.liveStreamId ?? null,
        clip_start_ms: order.clip?.startMs ?? null,
        clip_end_ms: order.clip?.endMs ?? null,
        clip_precision: order.clip?.precision ?? null,
        clipped_from: video.clippedFrom ?? null,
        watermark: order.watermark === undefined ? null : JSON.stringify(order.watermark),
        created_at_ms: video.createdAtMs,
        published_at_ms: video.publishedAtMs,
        updated_at_ms: video.updatedAtMs,
        ...expiryColumns(video.expiresAtMs ?? null),
        playback_policy: video.playbackPolicy === undefined ? null : JSON.stringify(video.playbackPolicy),
        description: video.description,
        description_folded: descriptionFolded,
      });
      await transaction.run(add);
      await also(transaction);
      await this.#lists.noteWrite(titleFolded.length + descriptionFolded.length, transaction);
    });
  }

  /** Changes a video, and those that inherit from it. Returns false when the video is not there. */
  async change(
    projectId: string,
    videoId: string,
    changes: VideoChanges,
    atMs: number,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const { title, description, tags, metadata, playbackPolicy } = changes;
    const titleFolded = title === undefined ? undefined : foldText(title);
    const descriptionFolded = description === undefined ? undefined : foldText(description);
    const access = {
      ...(changes.public === undefined ? {} : { is_public: Number(changes.public) }),
      ...(playbackPolicy === undefined
        ? {}
        : { playback_policy: playbackPolicy && JSON.stringify(playbackPolicy), viewer_limits: null }),
    };
    const values = {
      ...access,
      ...(changes.public === undefined ? {} : { public_from: null }),
      ...(changes.listed === undefined ? {} : { is_listed: Number(changes.listed) }),
      ...(changes.public === true ? { viewer_limits: null } : {}),
      ...(playbackPolicy === undefined ? {} : { policy_from: null }),
      ...(titleFolded === undefined ? {} : { title, title_folded: titleFolded }),
      ...(descriptionFolded === undefined ? {} : { description, description_folded: descriptionFolded }),
      ...(changes.panoramic === undefined ? {} : { is_panoramic: Number(changes.panoramic) }),
      ...(changes.mp4Support === undefined ? {} : { has_mp4_support: Number(changes.mp4Support) }),
      ...(changes.playerId === undefined ? {} : { player_id: changes.playerId }),
      ...(tags === undefined ? {} : { tags: JSON.stringify(tags) }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(changes.language === undefined ? {} : { language: changes.language, is_language_detected: 0 }),
      ...(changes.expiresAt === undefined ? {} : expiryColumns(changes.expiresAt)),
      updated_at_ms: atMs,
    };
    return connection.transaction(async transaction => {
      const scope = { projectId, isDiscarded: false };
      if (Object.keys(access).length > 0) await holdAccess(projectId, transaction);
      if (!(await this.#update(scope, videoId, values, transaction))) return false;
      await passOnAccess(projectId, videoId, access, transaction);
      if (titleFolded !== undefined || descriptionFolded !== undefined) {
        const length = (titleFolded?.length ?? 0) + (descriptionFolded?.length ?? 0);
        await this.#lists.noteWrite(length, transaction);
      }
      return true;
    });
  }

  /**
   * Call this first in a transaction that changes what belongs to the video: others wait until it ends. Returns
   * false when the video is not there.
   */
  touch(
    projectId: string,
    videoId: string,
    atMs: number,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    return this.#update({ projectId, isDiscarded: false }, videoId, { updated_at_ms: atMs }, connection);
  }

  discard(
    projectId: string,
    videoId: string,
    at: { atMs: number; deletesAtMs: number },
    connection?: Connection,
  ): Promise<boolean> {
    const values = { is_discarded: 1, discarded_at_ms: at.atMs, deletes_at_ms: at.deletesAtMs };
    const scope = { projectId, isDiscarded: false };
    return this.#update(scope, videoId, { ...values, ...expiryColumns(null) }, connection);
  }

  restore(projectId: string, videoId: string, atMs: number, connection: Connection): Promise<boolean> {
    const values = { is_discarded: 0, discarded_at_ms: null, deletes_at_ms: null, updated_at_ms: atMs };
    return this.#update({ projectId, isDiscarded: true }, videoId, values, connection);
  }

  async remove(projectId: string, videoId: string, connection?: Connection): Promise<void> {
    await this.#remove(this.#deleteById(videoId).where('project_id', '=', projectId), connection);
  }

  findWithOrphanedFiles(afterId: string, limit: number): Promise<string[]> {
    return this.#ids(
      this.#database.queries
        .selectFrom('removed_videos')
        .select('id')
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit),
    );
  }

  async filesRemoved(videoId: string): Promise<void> {
    const { queries } = this.#database;
    await this.#database.run(queries.deleteFrom('removed_videos').where('id', '=', videoId));
  }

  async #ids(query: Compilable<{ id: string }>): Promise<string[]> {
    return (await this.#database.all(query)).map(({ id }) => id);
  }

  #deleteById(videoId: string) {
    return this.#database.queries.deleteFrom('videos').where('id', '=', videoId);
  }

  async #remove(query: Deletion, connection: Connection = this.#database): Promise<boolean> {
    const isRemoved = await connection.transaction(async transaction => {
      const deleted = await transaction.first(query.returning(['id', 'public_from', 'policy_from']));
      if (deleted !== undefined) await skipDeleted(deleted, transaction);
      return deleted !== undefined;
    });
    await this.#lists.noteWrite(0, connection);
    return isRemoved;
  }

  #removeUnused(videoId: string, remove: Deletion, isInUse: IsInUse): Promise<boolean> {
    return this.#database.transaction(async transaction => {
      const video = transaction.queries.selectFrom('videos').select('id').where('id', '=', videoId);
      // Waits for an upload that begins at the same time: the deletion sees its source.
      await transaction.first(lockForUpdate(video, transaction));
      return !(await isInUse(videoId, transaction)) && (await this.#remove(remove, transaction));
    });
  }

  detachPlayer(playerId: string, limit: number, transaction: Transaction): Promise<number> {
    const { queries } = transaction;
    const some = queries.selectFrom('videos').select('number').where('player_id', '=', playerId).limit(limit);
    return transaction.run(
      queries.updateTable('videos').set({ player_id: null }).where('number', 'in', some),
    );
  }

  async #update(
    { projectId, isDiscarded }: ListScope,
    videoId: string,
    changes: Updateable<Tables['videos']>,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const count = await connection.run(
      connection.queries
        .updateTable('videos')
        .set(changes)
        .where('id', '=', videoId)
        .where('project_id', '=', projectId)
        .where('is_discarded', '=', Number(isDiscarded)),
    );
    return count > 0;
  }
}

function expiryColumns(
  expiresAtMs: number | null,
): Pick<Row<'videos'>, 'expires_at_ms' | 'expiry_notice_at_ms'> {
  return { expires_at_ms: expiresAtMs, expiry_notice_at_ms: expiresAtMs && expiresAtMs - expiryNoticeMs };
}
