import type { JobQueue } from '../../jobs/job.ts';
import { isPlayable, RenditionsStore } from '../../resources/videos/encodings/renditions.store.ts';
import type { Database } from '../../store/database.ts';
import type {
  PlayerRow,
  TextTrackRow,
  VideoEncodingRow,
  VideoRow,
  VideoSourceRow,
  VideoThumbnailRow,
} from '../../store/tables.ts';
import type { UsePeriod } from './database-use-periods.ts';
import type { LostRendition, VideoFindings, VideoRows } from './video-findings.ts';

/** A row by its place in the order of a walk. */
export interface WalkedVideo {
  readonly number: number;
  readonly id: string;
}

/** A player theme and the file that it says its logo is. */
export type WalkedPlayer = Pick<PlayerRow, 'id' | 'logo_file'>;

/** A live stream, and whether it says that it has an image. */
export interface WalkedLiveStream {
  readonly id: string;
  readonly hasThumbnail: boolean;
}

const filesMissingFailure = 'The files of this video are gone.';
/** Times without use are told apart only while files of those times are left; more of them than this are not remembered. */
const maxUsePeriods = 1_000;
/** Nobody waits for what is made again. */
const rebuildPriority = -1;

/** What a sweep asks of the database, and mends in it. */
export class SweepStore {
  readonly #database: Database;
  readonly #owners;
  readonly #openUpload;
  readonly #hasJob;
  readonly #videosAfter;
  readonly #video;
  readonly #encoding;
  readonly #renditions;
  readonly #source;
  readonly #thumbnail;
  readonly #tracks;
  readonly #playersAfter;
  readonly #liveStreamsAfter;
  readonly #watermarksAfter;
  readonly #logo;
  readonly #liveThumbnail;

  constructor(database: Database) {
    this.#database = database;
    const { sqlite } = database;
    const finds = (...tables: string[]) => {
      const statements = tables.map(table =>
        sqlite.prepare<[string], number>(`SELECT 1 FROM ${table} WHERE id = ?`).pluck(),
      );
      return (id: string) => statements.some(statement => statement.get(id) !== undefined);
    };
    this.#owners = {
      // The files of those that are gone are removed by others.
      vod: finds('videos', 'removed_videos'),
      live: finds('live_streams'),
      players: finds('players', 'removed_players'),
      watermarks: finds('watermarks'),
    };
    this.#openUpload = sqlite
      .prepare<[string], number>(
        "SELECT 1 FROM video_sources WHERE video_id = ? AND status IN ('uploading', 'assembling')",
      )
      .pluck();
    this.#hasJob = sqlite
      .prepare<[string], number>("SELECT 1 FROM jobs WHERE subject_id = ? AND state != 'failed'")
      .pluck();
    this.#videosAfter = sqlite.prepare<[number, number], WalkedVideo>(
      'SELECT number, id FROM videos WHERE number > ? ORDER BY number LIMIT ?',
    );
    this.#video = sqlite.prepare<[string], Pick<VideoRow, 'watermark'>>(
      'SELECT watermark FROM videos WHERE id = ?',
    );
    this.#encoding = sqlite.prepare<[string], VideoEncodingRow>(
      'SELECT * FROM video_encodings WHERE video_id = ?',
    );
    this.#renditions = new RenditionsStore(database);
    this.#source = sqlite.prepare<[string], VideoSourceRow>('SELECT * FROM video_sources WHERE video_id = ?');
    this.#thumbnail = sqlite.prepare<[string], VideoThumbnailRow>(
      'SELECT * FROM video_thumbnails WHERE video_id = ?',
    );
    this.#tracks = sqlite.prepare<[string], TextTrackRow>('SELECT * FROM text_tracks WHERE video_id = ?');
    this.#playersAfter = sqlite.prepare<[string, number], WalkedPlayer>(
      'SELECT id, logo_file FROM players WHERE id > ? ORDER BY id LIMIT ?',
    );
    this.#liveStreamsAfter = sqlite.prepare<[string, number], { id: string; thumbnail_type: string | null }>(
      'SELECT id, thumbnail_type FROM live_streams WHERE id > ? ORDER BY id LIMIT ?',
    );
    this.#logo = sqlite
      .prepare<[string], string | null>('SELECT logo_file FROM players WHERE id = ?')
      .pluck();
    this.#liveThumbnail = sqlite
      .prepare<[string], number>('SELECT 1 FROM live_streams WHERE id = ? AND thumbnail_type IS NOT NULL')
      .pluck();
    this.#watermarksAfter = sqlite
      .prepare<[string, number], string>('SELECT id FROM watermarks WHERE id > ? ORDER BY id LIMIT ?')
      .pluck();
  }

  /** Whether there is a row that the files named `id` belong to. */
  hasOwner(kind: 'vod' | 'uploads' | 'live' | 'players' | 'watermarks', id: string): boolean {
    return kind === 'uploads' ? this.#openUpload.get(id) !== undefined : this.#owners[kind](id);
  }

  /** Whether a job waits or runs that may write the files of a video. */
  hasJob(videoId: string): boolean {
    return this.#hasJob.get(videoId) !== undefined;
  }

  /** The next videos in the order in which they were made, those in the trash too. */
  videosAfter(number: number, atMost: number): WalkedVideo[] {
    return this.#videosAfter.all(number, atMost);
  }

  /** The next player themes. */
  playersAfter(id: string, atMost: number): WalkedPlayer[] {
    return this.#playersAfter.all(id, atMost);
  }

  /** The next live streams. */
  liveStreamsAfter(id: string, atMost: number): WalkedLiveStream[] {
    return this.#liveStreamsAfter
      .all(id, atMost)
      .map(row => ({ id: row.id, hasThumbnail: row.thumbnail_type !== null }));
  }

  /** The next watermarks. */
  watermarksAfter(id: string, atMost: number): string[] {
    return this.#watermarksAfter.all(id, atMost);
  }

  /** The file of a theme's logo. */
  logoOf(playerId: string): string | undefined {
    return this.#logo.get(playerId) ?? undefined;
  }

  /** Whether a live stream says that it has an image. */
  hasLiveThumbnail(liveStreamId: string): boolean {
    return this.#liveThumbnail.get(liveStreamId) !== undefined;
  }

  /** What is written down about the files of a video; undefined when it is gone. */
  rowsOf(videoId: string): VideoRows | undefined {
    const video = this.#video.get(videoId);
    if (video === undefined) return undefined;
    const encoding = this.#encoding.get(videoId);
    return {
      sourceStatus: this.#source.get(videoId)?.status,
      hasWatermark: video.watermark !== null,
      hasFailed: encoding?.failure !== null && encoding?.failure !== undefined,
      hasStoryboard: encoding?.has_storyboard === 1,
      renditions: this.#renditions.ofVideo(videoId),
      thumbnail: this.#thumbnail.get(videoId)?.file ?? undefined,
      tracks: this.#tracks.all(videoId),
    };
  }

  /**
   * Makes the rows of a video say what is there, and has made again what can be made of its source.
   */
  repairVideo(videoId: string, findings: VideoFindings, jobs: JobQueue): void {
    const { hasSource } = findings;
    this.#database.transaction(() => {
      const kinds = new Set<string>();
      for (const rendition of findings.lostRenditions) this.#markLost(videoId, rendition, kinds);
      for (const rendition of findings.foundRenditions) {
        this.#renditions.set(videoId, rendition, { status: 'encoded', progress_percent: 100 });
      }
      if (findings.unfinished !== undefined) {
        if (hasSource) kinds.add(findings.unfinished);
        // Nothing more comes of a video without a source.
        else this.#renditions.failUnfinished(videoId);
      }
      const { lostRenditions, foundRenditions, unfinished } = findings;
      const isStateNew = lostRenditions.length > 0 || foundRenditions.length > 0 || unfinished !== undefined;
      if (isStateNew) this.#updateState(videoId, findings);
      this.#bumpRevision(videoId, findings);
      if (findings.isStoryboardLost && hasSource) kinds.add('stills');
      if (findings.isThumbnailLost) {
        this.#forgetThumbnail(videoId);
        if (hasSource) kinds.add('frame');
      }
      const { queries } = this.#database;
      for (const { kind, language } of findings.lostTracks) {
        this.#database.run(
          queries
            .deleteFrom('text_tracks')
            .where('video_id', '=', videoId)
            .where('kind', '=', kind)
            .where('language', '=', language),
        );
      }
      // What is encoded again is followed by its mp4.
      if (kinds.has('encode')) kinds.delete('mp4');
      for (const kind of kinds) jobs.add({ kind, subjectId: videoId, priority: rebuildPriority });
    });
  }

  /** A player theme has no logo any more. */
  forgetLogo(playerId: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('players')
        .set({ logo_file: null, logo_bytes: null, link: null })
        .where('id', '=', playerId),
    );
  }

  /** A live stream has no image any more. */
  forgetLiveThumbnail(liveStreamId: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('live_streams')
        .set({ thumbnail_type: null })
        .where('id', '=', liveStreamId),
    );
  }

  /** There is no such watermark any more; videos that were made with it have their own copy. */
  forgetWatermark(watermarkId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('watermarks').where('id', '=', watermarkId));
  }

  /** When the database was made; undefined before its first account. */
  createdAtMs(): number | undefined {
    const { queries } = this.#database;
    const row = this.#database.first(
      queries.selectFrom('accounts').select(({ fn }) => fn.min('created_at_ms').as('at_ms')),
    );
    return row?.at_ms ?? undefined;
  }

  /** When servers have used this database, the oldest first. */
  usePeriods(): UsePeriod[] {
    const { queries } = this.#database;
    return this.#database
      .all(queries.selectFrom('database_uses').selectAll().orderBy('began_at_ms'))
      .map(row => ({ beganAtMs: row.began_at_ms, lastAtMs: row.last_at_ms }));
  }

  /** Says that this database has been in use since `beganAtMs`, until `lastAtMs` at least. */
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

  /** There is nothing left of the times in between: this database has been in use all the time. */
  mergeUsePeriods(use: UsePeriod): void {
    this.#database.transaction(() => {
      this.#database.run(this.#database.queries.deleteFrom('database_uses'));
      this.recordUse(use);
    });
  }

  #markLost(videoId: string, rendition: LostRendition, kinds: Set<string>): void {
    const { remake } = rendition;
    if (remake === undefined) {
      // With its file's name: it is taken again when the file comes back.
      this.#renditions.set(videoId, rendition, { status: 'failed' });
      return;
    }
    const nothing = { status: 'waiting', progress_percent: 0, file: null, facts: null } as const;
    this.#renditions.set(videoId, rendition, nothing);
    kinds.add(remake);
  }

  #updateState(videoId: string, findings: VideoFindings): void {
    const rows = this.#renditions.ofVideo(videoId);
    const isSome = isPlayable(rows);
    const isOver =
      rows.length === 0
        ? !findings.hasSource
        : rows.every(({ status }) => status === 'encoded' || status === 'failed');
    const failure = isSome || !isOver ? null : (this.#encoding.get(videoId)?.failure ?? filesMissingFailure);
    const values = { is_playable: Number(isSome), failure };
    const { queries } = this.#database;
    const fresh = { facts: '{}', target_duration_seconds: null, has_storyboard: 0, revision: 0 };
    this.#database.run(
      queries
        .insertInto('video_encodings')
        .values({ video_id: videoId, ...fresh, ...values })
        .onConflict(conflict => conflict.doUpdateSet(values)),
    );
  }

  /** What viewers get has changed. */
  #bumpRevision(videoId: string, { isStoryboardLost }: VideoFindings): void {
    this.#database.run(
      this.#database.queries
        .updateTable('video_encodings')
        .set(expression => ({
          revision: expression('revision', '+', 1),
          ...(isStoryboardLost ? { has_storyboard: 0 } : {}),
        }))
        .where('video_id', '=', videoId),
    );
  }

  #forgetThumbnail(videoId: string): void {
    const { queries } = this.#database;
    this.#database.run(
      queries.updateTable('video_thumbnails').set({ file: null }).where('video_id', '=', videoId),
    );
    // An image that somebody sent cannot be made again: the video shows what it would without.
    this.#database.run(
      queries.deleteFrom('video_thumbnails').where('video_id', '=', videoId).where('choice', '=', 'upload'),
    );
  }
}
