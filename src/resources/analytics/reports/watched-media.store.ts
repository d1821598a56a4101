import { BatchedLookups } from '../../../shared/batched-lookups.ts';
import type { Database } from '../../../store/database.ts';
import { type Bound, prepareQuery } from '../../../store/prepared-query.ts';
import { textQuery } from '../../../store/raw-query.ts';
import type { WatchedMedia } from './playback-tracker.ts';

/** Finds the project of a media by its id alone: whoever knows the id may watch it. */
export class WatchedMediaStore {
  readonly #database: Database;
  readonly #video;
  readonly #liveStream;
  readonly #lookups = new BatchedLookups(ids => this.#findAll(ids));

  constructor(database: Database) {
    this.#database = database;
    const find = (table: 'videos' | 'live_streams') =>
      prepareQuery(({ id }: Bound<{ id: string }>) =>
        database.queries.selectFrom(table).select('project_id').where('id', '=', id),
      );
    this.#video = find('videos');
    this.#liveStream = find('live_streams');
  }

  /** Reads those that are asked for at the same time with one query of PostgreSQL: viewers of many media come at once. */
  async find(mediaId: string): Promise<WatchedMedia | undefined> {
    if (this.#database.dialect === 'postgres') return this.#lookups.find(mediaId);
    const isLive = mediaId.startsWith('li');
    const media = await this.#database.first((isLive ? this.#liveStream : this.#video)({ id: mediaId }));
    return media && { projectId: media.project_id, type: isLive ? 'live-stream' : 'video' };
  }

  async #findAll(ids: readonly string[]): Promise<Map<string, WatchedMedia>> {
    const rows = await this.#database.all(
      textQuery<{ id: string; project_id: string; type: WatchedMedia['type'] }>(
        this.#database,
        `SELECT id, project_id, 'live-stream' AS type FROM live_streams WHERE id = ANY (?::text[])
         UNION ALL SELECT id, project_id, 'video' AS type FROM videos WHERE id = ANY (?::text[])`,
        [ids, ids],
      ),
    );
    return new Map(rows.map(row => [row.id, { projectId: row.project_id, type: row.type }]));
  }
}
