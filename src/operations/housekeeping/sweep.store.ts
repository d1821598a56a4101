import type { Database } from '../../store/database.ts';
import type { UsePeriod } from './database-use-periods.ts';
import type { VideoRows } from './video-findings.ts';

/** Periods matter only while files from in between them are left. */
const maxUsePeriods = 1_000;

const ownerTables = {
  // Files of removed videos and themes are removed elsewhere.
  vod: ['videos', 'removed_videos'],
  live: ['live_streams'],
  players: ['players', 'removed_players'],
  watermarks: ['watermarks'],
} as const;

/** Reads the rows that files belong to, and records when servers have used the database. */
export class SweepStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns whether a row owns the files named `id`. */
  hasOwner(kind: keyof typeof ownerTables | 'uploads', id: string): boolean {
    const { queries } = this.#database;
    if (kind === 'uploads') {
      const openUpload = queries
        .selectFrom('video_sources')
        .select('video_id')
        .where('video_id', '=', id)
        .where('status', 'in', ['uploading', 'assembling']);
      return this.#database.first(openUpload) !== undefined;
    }
    return ownerTables[kind].some(
      table =>
        this.#database.first(queries.selectFrom(table).select('id').where('id', '=', id)) !== undefined,
    );
  }

  /** Returns whether a waiting or running job may write the files of a video. */
  hasJob(videoId: string): boolean {
    const job = this.#database.queries
      .selectFrom('jobs')
      .select('id')
      .where('subject_id', '=', videoId)
      .where('state', '!=', 'failed')
      .limit(1);
    return this.#database.first(job) !== undefined;
  }

  /** Lists the next videos in order of creation, including the trash. */
  videosAfter(number: number, limit: number): { number: number; id: string }[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('videos')
        .select(['number', 'id'])
        .where('number', '>', number)
        .orderBy('number')
        .limit(limit),
    );
  }

  playersAfter(id: string, limit: number): { id: string; logo_file: string | null }[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('players')
        .select(['id', 'logo_file'])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
  }

  liveStreamsAfter(id: string, limit: number): { id: string; hasThumbnail: boolean }[] {
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('live_streams')
        .select(['id', 'thumbnail_type'])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
    return rows.map(row => ({ id: row.id, hasThumbnail: row.thumbnail_type !== null }));
  }

  watermarksAfter(id: string, limit: number): { id: string }[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('watermarks')
        .select('id')
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
  }

  /** Returns the file name of a theme's logo. */
  logoOf(playerId: string): string | undefined {
    const { queries } = this.#database;
    const player = queries.selectFrom('players').select('logo_file').where('id', '=', playerId);
    return this.#database.first(player)?.logo_file ?? undefined;
  }

  hasLiveThumbnail(liveStreamId: string): boolean {
    const { queries } = this.#database;
    const stream = queries.selectFrom('live_streams').select('thumbnail_type').where('id', '=', liveStreamId);
    return (this.#database.first(stream)?.thumbnail_type ?? null) !== null;
  }

  /** Reads the rows that name files of a video; undefined when the video is gone. */
  rowsOf(videoId: string): VideoRows | undefined {
    const { queries } = this.#database;
    const video = this.#database.first(
      queries
        .selectFrom('videos as v')
        .leftJoin('video_sources as s', 's.video_id', 'v.id')
        .leftJoin('video_encodings as e', 'e.video_id', 'v.id')
        .leftJoin('video_thumbnails as t', 't.video_id', 'v.id')
        .select(['v.watermark', 's.status', 'e.failure', 'e.has_storyboard', 't.file as thumbnail'])
        .where('v.id', '=', videoId),
    );
    if (video === undefined) return undefined;
    const renditions = queries.selectFrom('renditions').select(['type', 'quality', 'status', 'file']);
    const tracks = queries.selectFrom('text_tracks').select(['kind', 'language', 'file']);
    return {
      sourceStatus: video.status ?? undefined,
      hasWatermark: video.watermark !== null,
      hasFailed: video.failure !== null,
      hasStoryboard: video.has_storyboard === 1,
      renditions: this.#database.all(renditions.where('video_id', '=', videoId).orderBy('position')),
      thumbnail: video.thumbnail ?? undefined,
      tracks: this.#database.all(tracks.where('video_id', '=', videoId)),
    };
  }

  /** Returns when the database was created; undefined before its first account. */
  createdAtMs(): number | undefined {
    const { queries } = this.#database;
    const row = this.#database.first(
      queries.selectFrom('accounts').select(({ fn }) => fn.min('created_at_ms').as('at_ms')),
    );
    return row?.at_ms ?? undefined;
  }

  /** Lists the periods in which servers have used this database, oldest first. */
  usePeriods(): UsePeriod[] {
    const { queries } = this.#database;
    return this.#database
      .all(queries.selectFrom('database_uses').selectAll().orderBy('began_at_ms'))
      .map(row => ({ beganAtMs: row.began_at_ms, lastAtMs: row.last_at_ms }));
  }

  /** Extends the period that began at `beganAtMs`, or adds it. */
  recordUse({ beganAtMs, lastAtMs }: UsePeriod): void {
    const { queries } = this.#database;
    this.#database.run(
      queries
        .insertInto('database_uses')
        .values({ began_at_ms: beganAtMs, last_at_ms: lastAtMs })
        .onConflict(conflict =>
          conflict.doUpdateSet(({ fn, ref, val }) => ({
            last_at_ms: fn<number>('max', [ref('database_uses.last_at_ms'), val(lastAtMs)]),
          })),
        ),
    );
    const newest = queries
      .selectFrom('database_uses')
      .select('began_at_ms')
      .orderBy('began_at_ms', 'desc')
      .limit(maxUsePeriods);
    this.#database.run(queries.deleteFrom('database_uses').where('began_at_ms', 'not in', newest));
  }

  /** Replaces all periods with one: no files from in between them are left. */
  mergeUsePeriods(period: UsePeriod): void {
    this.#database.transaction(() => {
      this.#database.run(this.#database.queries.deleteFrom('database_uses'));
      this.recordUse(period);
    });
  }
}
