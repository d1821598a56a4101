import { sql } from 'kysely';
import { restrictingPolicy } from '../../../shared/playback-policy.ts';
import type { Database } from '../../../store/database.ts';
import { prepareQuery } from '../../../store/prepared-query.ts';
import { viewerClipTag } from './viewer-clips.ts';

interface PublicVideo {
  readonly videoId: string;
  readonly title: string;
  readonly publishedAtMs: number;
  readonly durationSeconds: number | undefined;
}

interface PublicVideoRow {
  readonly id: string;
  readonly title: string;
  readonly published_at_ms: number;
  readonly playback_policy: string | null;
  readonly tags: string;
  readonly duration: number | null;
}

/** A position in the list of a project's videos, from the newest to the oldest. */
interface ListPosition {
  readonly projectId: string;
  readonly publishedAtMs: number;
  readonly videoId: string;
}

/** Rows that one page of a list reads at most, of which some may be left out. */
const maxRowsRead = 60;
const newest = { publishedAtMs: Number.MAX_SAFE_INTEGER, videoId: '' };

/** Finds the videos that everybody may watch: they are public, and no playback policy restricts them. */
export class PublicVideosStore {
  readonly #database: Database;
  readonly #older;
  readonly #recording;
  readonly #details;

  constructor(database: Database) {
    const { queries } = database;
    this.#database = database;
    const duration = sql<number | null>`${sql.raw(
      database.dialect === 'sqlite' ? `e.facts ->> '$.duration'` : `(e.facts::jsonb ->> 'duration')::float8`,
    )}`;
    this.#older = prepareQuery<ListPosition, PublicVideoRow>(({ projectId, publishedAtMs, videoId }) =>
      queries
        .selectFrom(eb =>
          eb
            .selectFrom('videos')
            .select(['id', 'project_id', 'title', 'published_at_ms', 'playback_policy', 'tags'])
            .where('project_id', '=', projectId)
            .where('is_public', '=', sql.lit(1))
            .where('discarded_at_ms', 'is', null)
            .where(sql<boolean>`(published_at_ms, id) < (${publishedAtMs}, ${videoId})`)
            .orderBy('published_at_ms', 'desc')
            .orderBy('id', 'desc')
            .limit(sql.lit(maxRowsRead))
            .as('v'),
        )
        .innerJoin('projects as p', 'p.id', 'v.project_id')
        .innerJoin('video_encodings as e', join =>
          join.onRef('e.video_id', '=', 'v.id').on('e.is_playable', '=', 1),
        )
        .select(['v.id', 'v.title', 'v.published_at_ms', 'v.tags', duration.as('duration')])
        .select(({ fn }) => fn.coalesce('v.playback_policy', 'p.playback_policy').as('playback_policy'))
        .orderBy('v.published_at_ms', 'desc')
        .orderBy('v.id', 'desc'),
    );
    this.#recording = prepareQuery<{ liveStreamId: string }, PublicVideoRow>(({ liveStreamId }) =>
      queries
        .selectFrom('videos as v')
        .innerJoin('projects as p', 'p.id', 'v.project_id')
        .innerJoin('video_encodings as e', join =>
          join.onRef('e.video_id', '=', 'v.id').on('e.is_playable', '=', 1),
        )
        .select(['v.id', 'v.title', 'v.published_at_ms', 'v.tags', duration.as('duration')])
        .select(({ fn }) => fn.coalesce('v.playback_policy', 'p.playback_policy').as('playback_policy'))
        .where('v.live_stream_id', '=', liveStreamId)
        .where('v.is_public', '=', sql.lit(1))
        .where('v.discarded_at_ms', 'is', null)
        .where('v.created_at_ms', '>=', eb =>
          eb
            .selectFrom('broadcasts')
            .select(({ fn }) => fn.max('started_at_ms').as('started_at_ms'))
            .where('live_stream_id', '=', liveStreamId),
        )
        .orderBy('v.created_at_ms', 'desc')
        .limit(sql.lit(1)),
    );
    this.#details = prepareQuery<{ videoId: string }, { description: string; published_at_ms: number }>(
      ({ videoId }) =>
        queries.selectFrom('videos').select(['description', 'published_at_ms']).where('id', '=', videoId),
    );
  }

  async details(videoId: string): Promise<{ description: string; publishedAtMs: number } | undefined> {
    const row = await this.#database.first(this.#details({ videoId }));
    return row && { description: row.description, publishedAtMs: row.published_at_ms };
  }

  /** Lists the videos that were published before this one, then the newest. Leaves out clips of viewers. */
  async after(
    { projectId, ...video }: { projectId: string; videoId?: string; publishedAtMs?: number },
    limit: number,
  ): Promise<PublicVideo[]> {
    const start = { projectId, ...newest, ...video };
    const older = await this.#list(start, limit);
    if (video.videoId === undefined || older.length === limit) return older;
    const seen = new Set([video.videoId, ...older.map(({ videoId }) => videoId)]);
    const first = await this.#list({ projectId, ...newest }, limit);
    return [...older, ...first.filter(({ videoId }) => !seen.has(videoId))].slice(0, limit);
  }

  /** The recording of the newest broadcast of a live stream, once it is playable. */
  async recordingOf(liveStreamId: string): Promise<PublicVideo | undefined> {
    const row = await this.#database.first(this.#recording({ liveStreamId }));
    return row === undefined || !isForEverybody(row) ? undefined : videoOf(row);
  }

  async #list(position: ListPosition, limit: number): Promise<PublicVideo[]> {
    const rows = await this.#database.all(this.#older(position));
    return rows
      .filter(row => isForEverybody(row) && !(JSON.parse(row.tags) as string[]).includes(viewerClipTag))
      .slice(0, limit)
      .map(videoOf);
  }
}

function isForEverybody({ playback_policy }: PublicVideoRow): boolean {
  return restrictingPolicy(playback_policy) === undefined;
}

function videoOf({ id, title, published_at_ms, duration }: PublicVideoRow): PublicVideo {
  return { videoId: id, title, publishedAtMs: published_at_ms, durationSeconds: duration ?? undefined };
}
