import { sql } from 'kysely';
import { restrictingPolicy } from '../../../shared/playback-policy.ts';
import type { Database } from '../../../store/database.ts';
import { asText, prepareQuery } from '../../../store/prepared-query.ts';

/** Reads what watch pages show beside the player. */
export class WatchPageStore {
  readonly #database: Database;
  readonly #details;
  readonly #recording;

  constructor(database: Database) {
    const { queries } = database;
    this.#database = database;
    this.#details = prepareQuery<{ videoId: string }, { description: string; published_at_ms: number }>(
      ({ videoId }) =>
        queries.selectFrom('videos').select(['description', 'published_at_ms']).where('id', '=', videoId),
    );
    this.#recording = prepareQuery<
      { liveStreamId: string },
      { id: string; title: string; playback_policy: string | null }
    >(({ liveStreamId }) =>
      queries
        .selectFrom('videos as v')
        .innerJoin('projects as p', 'p.id', 'v.project_id')
        .innerJoin('video_encodings as e', join =>
          join.onRef('e.video_id', '=', 'v.id').on('e.is_playable', '=', 1),
        )
        .select(['v.id', 'v.title'])
        .select(({ fn }) => fn.coalesce('v.playback_policy', 'p.playback_policy').as('playback_policy'))
        .where('v.live_stream_id', '=', asText(liveStreamId))
        .where('v.is_public', '=', sql.lit(1))
        .where('v.discarded_at_ms', 'is', null)
        // Viewers can make clips of a broadcast.
        .where('v.clipped_from', 'is', null)
        .where('v.created_at_ms', '>=', eb =>
          eb
            .selectFrom('broadcasts')
            .select(({ fn }) => fn.max('started_at_ms').as('started_at_ms'))
            .where('live_stream_id', '=', asText(liveStreamId)),
        )
        .orderBy('v.created_at_ms', 'desc')
        .limit(sql.lit(1)),
    );
  }

  async details(videoId: string): Promise<{ description: string; publishedAtMs: number } | undefined> {
    const row = await this.#database.first(this.#details({ videoId }));
    return row && { description: row.description, publishedAtMs: row.published_at_ms };
  }

  /** The recording of the newest broadcast of a live stream, once it is playable, if everybody may watch it. */
  async recordingOf(liveStreamId: string): Promise<{ videoId: string; title: string } | undefined> {
    const row = await this.#database.first(this.#recording({ liveStreamId }));
    if (row === undefined || restrictingPolicy(row.playback_policy) !== undefined) return undefined;
    return { videoId: row.id, title: row.title };
  }
}
