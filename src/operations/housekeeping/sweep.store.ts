import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';
import { asText, type Bound, prepareQuery } from '../../store/prepared-query.ts';
import type { UsePeriod } from './database-use-periods.ts';
import type { VideoRows } from './video-findings.ts';

/** Periods matter only while files from between them are left. */
const maxUsePeriods = 1_000;

const ownerTables = {
  // Files of removed videos and themes are removed elsewhere.
  vod: ['videos', 'removed_videos'],
  live: ['live_streams'],
  players: ['players', 'removed_players'],
  watermarks: ['watermarks'],
} as const;

export class SweepStore {
  readonly #database: Database;
  readonly #prepared;

  constructor(database: Database) {
    this.#database = database;
    this.#prepared = prepareVideoQueries(database);
  }

  async hasOwner(kind: keyof typeof ownerTables | 'uploads', id: string): Promise<boolean> {
    const { queries } = this.#database;
    if (kind === 'uploads') {
      const openUpload = queries
        .selectFrom('video_sources')
        .select('video_id')
        .where('video_id', '=', id)
        .where('status', 'in', ['uploading', 'assembling']);
      // Keeps the chunks of a failed upload, which can be retried.
      const keptChunk = queries
        .selectFrom('upload_chunks as chunk')
        .innerJoin('video_sources as source', 'source.video_id', 'chunk.video_id')
        .select('chunk.video_id')
        .where('chunk.video_id', '=', id)
        .where('source.status', '=', 'failed')
        .limit(1);
      return (
        (await this.#database.first(openUpload)) !== undefined ||
        (await this.#database.first(keptChunk)) !== undefined
      );
    }
    for (const table of ownerTables[kind]) {
      const owner = queries.selectFrom(table).select('id').where('id', '=', id);
      if ((await this.#database.first(owner)) !== undefined) return true;
    }
    return false;
  }

  async hasJob(videoId: string, connection: Connection = this.#database): Promise<boolean> {
    return (await connection.first(this.#prepared.job({ videoId }))) !== undefined;
  }

  /** Lists videos in order of creation, with the trash. */
  videosAfter(number: number, limit: number): Promise<{ number: number; id: string }[]> {
    return this.#database.all(
      this.#database.queries
        .selectFrom('videos')
        .select(['number', 'id'])
        .where('number', '>', number)
        .orderBy('number')
        .limit(limit),
    );
  }

  playersAfter(id: string, limit: number): Promise<{ id: string; logo_file: string | null }[]> {
    return this.#database.all(
      this.#database.queries
        .selectFrom('players')
        .select(['id', 'logo_file'])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
  }

  async liveStreamsAfter(id: string, limit: number): Promise<{ id: string; hasThumbnail: boolean }[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('live_streams')
        .select(['id', 'thumbnail_type'])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
    return rows.map(row => ({ id: row.id, hasThumbnail: row.thumbnail_type !== null }));
  }

  watermarksAfter(id: string, limit: number): Promise<{ id: string }[]> {
    return this.#database.all(
      this.#database.queries
        .selectFrom('watermarks')
        .select('id')
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit),
    );
  }

  async logoOf(playerId: string): Promise<string | undefined> {
    const { queries } = this.#database;
    const player = queries.selectFrom('players').select('logo_file').where('id', '=', playerId);
    return (await this.#database.first(player))?.logo_file ?? undefined;
  }

  async hasLiveThumbnail(liveStreamId: string): Promise<boolean> {
    const { queries } = this.#database;
    const stream = queries.selectFrom('live_streams').select('thumbnail_type').where('id', '=', liveStreamId);
    return ((await this.#database.first(stream))?.thumbnail_type ?? null) !== null;
  }

  async rowsOf(videoId: string, connection: Connection = this.#database): Promise<VideoRows | undefined> {
    const { video: find, renditions, codecRenditions, tracks } = this.#prepared;
    const video = await connection.first(find({ videoId }));
    if (video === undefined) return undefined;
    return {
      sourceStatus: video.status ?? undefined,
      hasWatermark: video.watermark !== null,
      hasFailed: video.failure !== null,
      hasStoryboard: video.has_storyboard === 1,
      renditions: await connection.all(renditions({ videoId })),
      codecRenditions: await connection.all(codecRenditions({ videoId })),
      thumbnail: video.thumbnail ?? undefined,
      tracks: await connection.all(tracks({ videoId })),
    };
  }

  async createdAtMs(): Promise<number | undefined> {
    const { queries } = this.#database;
    const row = await this.#database.first(
      queries.selectFrom('accounts').select(({ fn }) => fn.min('created_at_ms').as('at_ms')),
    );
    return row?.at_ms ?? undefined;
  }

  /** Oldest first. */
  async usePeriods(): Promise<UsePeriod[]> {
    const { queries } = this.#database;
    const rows = await this.#database.all(
      queries.selectFrom('database_uses').selectAll().orderBy('began_at_ms'),
    );
    return rows.map(row => ({ beganAtMs: row.began_at_ms, lastAtMs: row.last_at_ms }));
  }

  async recordUse(
    { beganAtMs, lastAtMs }: UsePeriod,
    connection: Connection = this.#database,
  ): Promise<void> {
    const { queries } = connection;
    await connection.run(
      queries
        .insertInto('database_uses')
        .values({ began_at_ms: beganAtMs, last_at_ms: lastAtMs })
        .onConflict(conflict =>
          conflict
            .column('began_at_ms')
            .doUpdateSet({ last_at_ms: lastAtMs })
            .where('database_uses.last_at_ms', '<', lastAtMs),
        ),
    );
    const newest = queries
      .selectFrom('database_uses')
      .select('began_at_ms')
      .orderBy('began_at_ms', 'desc')
      .limit(maxUsePeriods);
    await connection.run(queries.deleteFrom('database_uses').where('began_at_ms', 'not in', newest));
  }

  async mergeUsePeriods(period: UsePeriod): Promise<void> {
    await this.#database.transaction(async transaction => {
      await transaction.run(transaction.queries.deleteFrom('database_uses'));
      await this.recordUse(period, transaction);
    });
  }
}

/** Queries that run for each video. */
function prepareVideoQueries({ queries }: Database) {
  return {
    job: prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('jobs')
        .select('id')
        .where('subject_id', '=', videoId)
        .where('state', '!=', 'failed')
        .limit(1),
    ),
    video: prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('videos as v')
        .leftJoin('video_sources as s', 's.video_id', 'v.id')
        .leftJoin('video_encodings as e', 'e.video_id', 'v.id')
        .leftJoin('video_thumbnails as t', 't.video_id', 'v.id')
        .select(['v.watermark', 's.status', 'e.failure', 'e.has_storyboard', 't.file as thumbnail'])
        .where('v.id', '=', asText(videoId)),
    ),
    renditions: prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('renditions')
        .select(['type', 'quality', 'status', 'file'])
        .where('video_id', '=', asText(videoId))
        .orderBy('position'),
    ),
    codecRenditions: prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('codec_renditions')
        .select(['codec', 'quality', 'status', 'file'])
        .where('video_id', '=', asText(videoId))
        .orderBy('position'),
    ),
    tracks: prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries.selectFrom('text_tracks').select(['kind', 'language', 'file']).where('video_id', '=', videoId),
    ),
  };
}
