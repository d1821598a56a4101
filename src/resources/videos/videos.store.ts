import type { Updateable } from 'kysely';
import type { Database } from '../../store/database.ts';
import { foldText } from '../../store/folded-text.ts';
import type { VideoRow } from '../../store/media-tables.ts';
import type { ListPage, ListScope } from './lists/sorted-videos.store.ts';
import type { VideoFilter } from './lists/video-filter.ts';
import { VideoLists } from './lists/video-lists.store.ts';
import { VideoTextIndex } from './lists/video-text-index.store.ts';
import type { Clip, Video, VideoChanges, WatermarkPlacement } from './video.ts';
import { type SelectedVideoRow, selectedColumns, videoFrom } from './video-row.ts';

/**
 * Videos in the database. What lists are made of is kept by triggers, in the same transaction; texts are searched in through
 * {@link VideoTextIndex}.
 */
export class VideosStore {
  readonly #database: Database;
  readonly #texts: VideoTextIndex;
  readonly #lists: VideoLists;
  readonly #find;
  readonly #findExpired;
  readonly #removeExpired;
  readonly #findEmpty;
  readonly #removeEmpty;
  readonly #findOfSandbox;
  readonly #removeOfSandbox;
  readonly #findOldestDiscarded;
  readonly #removeDiscarded;
  readonly #findOrphaned;
  readonly #add;
  readonly #touch;

  constructor(database: Database) {
    const { sqlite } = database;
    this.#database = database;
    this.#texts = new VideoTextIndex(database);
    this.#lists = new VideoLists(database, this.#texts);
    this.#find = sqlite.prepare<[string, string, number], SelectedVideoRow>(
      `SELECT ${selectedColumns} FROM videos v WHERE v.id = ? AND v.project_id = ? AND v.is_discarded = ?`,
    );
    this.#findExpired = sqlite
      .prepare<[number, number], string>(
        'SELECT id FROM videos WHERE deletes_at_ms <= ? ORDER BY deletes_at_ms LIMIT ?',
      )
      .pluck();
    this.#removeExpired = sqlite.prepare<[string, number]>(
      'DELETE FROM videos WHERE id = ? AND deletes_at_ms <= ?',
    );
    this.#findEmpty = sqlite
      .prepare<[number, number], string>(
        'SELECT video_id FROM empty_videos WHERE created_at_ms <= ? ORDER BY created_at_ms, video_id LIMIT ?',
      )
      .pluck();
    this.#removeEmpty = sqlite.prepare<[string, number]>(
      `DELETE FROM videos WHERE id = ? AND is_discarded = 0 AND created_at_ms <= ?
         AND NOT EXISTS (SELECT 1 FROM video_sources WHERE video_id = videos.id)`,
    );
    this.#findOfSandbox = sqlite
      .prepare<[number, number], string>(
        'SELECT video_id FROM sandbox_videos WHERE completed_at_ms <= ? ORDER BY completed_at_ms, video_id LIMIT ?',
      )
      .pluck();
    this.#removeOfSandbox = sqlite.prepare<[string, number]>(
      `DELETE FROM videos WHERE id = ?
         AND EXISTS (SELECT 1 FROM video_sources WHERE video_id = videos.id AND completed_at_ms <= ?)`,
    );
    this.#findOldestDiscarded = sqlite.prepare<[number], { videoId: string; bytes: number }>(
      `SELECT v.id AS videoId, coalesce(s.source_bytes + s.recording_bytes + s.hls_bytes + s.mp4_bytes + s.image_bytes + s.text_bytes, 0) AS bytes
       FROM videos v LEFT JOIN stored_videos s ON s.video_id = v.id
       WHERE v.deletes_at_ms IS NOT NULL ORDER BY v.deletes_at_ms LIMIT ?`,
    );
    this.#removeDiscarded = sqlite.prepare<[string]>(
      'DELETE FROM videos WHERE id = ? AND deletes_at_ms IS NOT NULL',
    );
    this.#findOrphaned = sqlite
      .prepare<[string, number], string>('SELECT id FROM removed_videos WHERE id > ? ORDER BY id LIMIT ?')
      .pluck();
    this.#add = sqlite.prepare<(string | number | null)[]>(
      `INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, player_id, tags,
         metadata, language, live_stream_id, clip_start_ms, clip_end_ms, watermark, created_at_ms, published_at_ms,
         updated_at_ms, description, description_folded)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#touch = sqlite.prepare<[number, string, string]>(
      'UPDATE videos SET updated_at_ms = ? WHERE id = ? AND project_id = ? AND discarded_at_ms IS NULL',
    );
  }

  /** A video of a project: among those that are discarded, or among the others. */
  find({ projectId, isDiscarded }: ListScope, videoId: string): Video | undefined {
    const row = this.#find.get(videoId, projectId, Number(isDiscarded));
    return row === undefined ? undefined : videoFrom(row);
  }

  /** Discarded videos, of any project, whose time to be restored is over. */
  findExpired(atMs: number, atMost: number): string[] {
    return this.#findExpired.all(atMs, atMost);
  }

  /** Removes a discarded video, unless it was restored meanwhile; whether it is removed. */
  removeExpired(videoId: string, atMs: number): boolean {
    return this.#noteRemoval(this.#removeExpired.run(videoId, atMs).changes);
  }

  /** Discarded videos, of any project, with the bytes of their files: those that were discarded first. */
  findOldestDiscarded(atMost: number): { readonly videoId: string; readonly bytes: number }[] {
    return this.#findOldestDiscarded.all(atMost);
  }

  /** Removes a discarded video, unless it was restored meanwhile; whether it is removed. */
  removeDiscarded(videoId: string): boolean {
    return this.#noteRemoval(this.#removeDiscarded.run(videoId).changes);
  }

  /** Videos, of any project, that were made until `atMs` and that no source has ever begun for. */
  findEmpty(atMs: number, atMost: number): string[] {
    return this.#findEmpty.all(atMs, atMost);
  }

  /** Removes such a video, unless a source began or it was discarded meanwhile; whether it is removed. */
  removeEmpty(videoId: string, atMs: number): boolean {
    return this.#noteRemoval(this.#removeEmpty.run(videoId, atMs).changes);
  }

  /** Videos of the sandbox, discarded or not, whose source was complete, or given up, at `atMs`; the oldest first. */
  findOfSandbox(atMs: number, atMost: number): string[] {
    return this.#findOfSandbox.all(atMs, atMost);
  }

  /** Removes such a video; whether it is removed. */
  removeOfSandbox(videoId: string, atMs: number): boolean {
    return this.#noteRemoval(this.#removeOfSandbox.run(videoId, atMs).changes);
  }

  /** One page of a list, and how many videos there are on all pages. */
  async list(
    scope: ListScope,
    filter: VideoFilter,
    page: ListPage,
  ): Promise<{ videos: Video[]; total: number }> {
    const { rows, total } = await this.#lists.list(scope, filter, page);
    return { videos: rows.map(videoFrom), total };
  }

  /** Does `work`, which adds or changes videos, with what others do in the same turn; settles after the commit. */
  inBatch<Result>(work: () => Result): Promise<Result> {
    return this.#database.inBatch(work);
  }

  /**
   * Adds a video that is not discarded.
   *
   * @param also written down in the same transaction, after the video
   */
  add(
    video: Video,
    order: { clip?: Clip | undefined; watermark?: WatermarkPlacement | undefined } = {},
    also: () => void = () => {},
  ): void {
    const titleFolded = foldText(video.title);
    const descriptionFolded = foldText(video.description);
    this.#database.transaction(() => {
      this.#add.run(
        video.videoId,
        video.projectId,
        video.title,
        titleFolded,
        Number(video.public),
        Number(video.panoramic),
        Number(video.mp4Support),
        video.playerId ?? null,
        JSON.stringify(video.tags),
        JSON.stringify(video.metadata),
        video.language ?? null,
        video.liveStreamId ?? null,
        order.clip?.startMs ?? null,
        order.clip?.endMs ?? null,
        order.watermark === undefined ? null : JSON.stringify(order.watermark),
        video.createdAtMs,
        video.publishedAtMs,
        video.updatedAtMs,
        video.description,
        descriptionFolded,
      );
      also();
    });
    this.#texts.noteWrite(titleFolded.length + descriptionFolded.length);
  }

  /** Changes what is given of a video that is not discarded, and leaves the rest. */
  change(projectId: string, videoId: string, changes: VideoChanges, atMs: number): void {
    const { title, description, tags, metadata } = changes;
    const titleFolded = title === undefined ? undefined : foldText(title);
    const descriptionFolded = description === undefined ? undefined : foldText(description);
    this.#update({ projectId, isDiscarded: false }, videoId, {
      ...(titleFolded === undefined ? {} : { title, title_folded: titleFolded }),
      ...(descriptionFolded === undefined ? {} : { description, description_folded: descriptionFolded }),
      ...(changes.public === undefined ? {} : { is_public: Number(changes.public) }),
      ...(changes.panoramic === undefined ? {} : { is_panoramic: Number(changes.panoramic) }),
      ...(changes.mp4Support === undefined ? {} : { has_mp4_support: Number(changes.mp4Support) }),
      ...(changes.playerId === undefined ? {} : { player_id: changes.playerId }),
      ...(tags === undefined ? {} : { tags: JSON.stringify(tags) }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      ...(changes.language === undefined ? {} : { language: changes.language }),
      updated_at_ms: atMs,
    });
    if (titleFolded !== undefined || descriptionFolded !== undefined) {
      this.#texts.noteWrite((titleFolded?.length ?? 0) + (descriptionFolded?.length ?? 0));
    }
  }

  /** Notes that something that belongs to a video has changed. */
  touch(projectId: string, videoId: string, atMs: number): void {
    this.#touch.run(atMs, videoId, projectId);
  }

  /** Hides a video until it is restored or removed. */
  discard(projectId: string, videoId: string, at: { atMs: number; deletesAtMs: number }): void {
    this.#update({ projectId, isDiscarded: false }, videoId, {
      is_discarded: 1,
      discarded_at_ms: at.atMs,
      deletes_at_ms: at.deletesAtMs,
    });
  }

  /** Brings a discarded video back. */
  restore(projectId: string, videoId: string, atMs: number): void {
    this.#update({ projectId, isDiscarded: true }, videoId, {
      is_discarded: 0,
      discarded_at_ms: null,
      deletes_at_ms: null,
      updated_at_ms: atMs,
    });
  }

  /** Removes a video, discarded or not, with all rows that belong to it. False when it was gone. */
  remove(projectId: string, videoId: string): boolean {
    const { queries } = this.#database;
    const removed = this.#database.run(
      queries.deleteFrom('videos').where('id', '=', videoId).where('project_id', '=', projectId),
    );
    return this.#noteRemoval(removed);
  }

  /** Videos that are removed, and whose files may still be there; by their ids, those after `afterId`. */
  findWithOrphanedFiles(afterId: string, atMost: number): string[] {
    return this.#findOrphaned.all(afterId, atMost);
  }

  /** The files of a removed video are gone. */
  filesRemoved(videoId: string): void {
    const { queries } = this.#database;
    this.#database.run(queries.deleteFrom('removed_videos').where('id', '=', videoId));
  }

  #noteRemoval(count: number): boolean {
    this.#texts.noteWrite(0);
    return count > 0;
  }

  /** Unsets a player theme on up to `limit` videos that name it. Returns the number of videos. */
  detachPlayer(playerId: string, limit: number): number {
    const { queries } = this.#database;
    const some = queries.selectFrom('videos').select('number').where('player_id', '=', playerId).limit(limit);
    return this.#database.run(
      queries.updateTable('videos').set({ player_id: null }).where('number', 'in', some),
    );
  }

  #update({ projectId, isDiscarded }: ListScope, videoId: string, changes: Updateable<VideoRow>): void {
    this.#database.run(
      this.#database.queries
        .updateTable('videos')
        .set(changes)
        .where('id', '=', videoId)
        .where('project_id', '=', projectId)
        .where('is_discarded', '=', Number(isDiscarded)),
    );
  }
}
