import type { Database } from '../../../store/database.ts';
import { type Bound, prepareQuery } from '../../../store/prepared-query.ts';
import type { WatchedMedia } from './playback-tracker.ts';

/** Finds the project of a media by its id alone: whoever knows the id may watch it. */
export class WatchedMediaStore {
  readonly #database: Database;
  readonly #video;
  readonly #liveStream;

  constructor(database: Database) {
    this.#database = database;
    const find = (table: 'videos' | 'live_streams') =>
      prepareQuery(({ id }: Bound<{ id: string }>) =>
        database.queries.selectFrom(table).select('project_id').where('id', '=', id),
      );
    this.#video = find('videos');
    this.#liveStream = find('live_streams');
  }

  async find(mediaId: string): Promise<WatchedMedia | undefined> {
    const isLive = mediaId.startsWith('li');
    const media = await this.#database.first((isLive ? this.#liveStream : this.#video)({ id: mediaId }));
    return media && { projectId: media.project_id, type: isLive ? 'live-stream' : 'video' };
  }
}
