import type { Database } from '../../../store/database.ts';
import type { WatchedMedia } from './playback-tracker.ts';

/** Tells whose a video or live stream is, by its id alone: whoever can name it may watch it. */
export class WatchedMediaStore {
  readonly #video;
  readonly #liveStream;

  constructor(database: Database) {
    const find = (table: string) =>
      database.sqlite.prepare<[string], string>(`SELECT project_id FROM ${table} WHERE id = ?`).pluck();
    this.#video = find('videos');
    this.#liveStream = find('live_streams');
  }

  /** The project and type of a media; undefined when there is none. */
  find(mediaId: string): WatchedMedia | undefined {
    const isLive = mediaId.startsWith('li');
    const projectId = (isLive ? this.#liveStream : this.#video).get(mediaId);
    return projectId === undefined ? undefined : { projectId, type: isLive ? 'live-stream' : 'video' };
  }
}
