import type { Outbox } from '../../events/outbox.store.ts';
import type { Database } from '../../store/database.ts';
import type { RecordingRow } from '../../store/tables.ts';
import type { NewRecording, RecordingRepository } from '../../vod/recording/recording-repository.ts';

/** What a video takes from the live stream that it is a recording of. */
export interface RecordedVideo {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
}

/** What the store asks of others. */
export interface RecordingsStoreOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  /** Makes the video of a recording, in the caller's transaction. */
  readonly addVideo: (projectId: string, video: RecordedVideo) => void;
}

const recordedEvent = 'video.source.recorded';
const stoppedEvent = 'live-stream.recording.stopped';

/** Recordings in the database, from their beginning until they are videos. */
export class RecordingsStore implements RecordingRepository {
  readonly #options: RecordingsStoreOptions;
  readonly #add;
  readonly #refresh;
  readonly #find;

  constructor(options: RecordingsStoreOptions) {
    const { sqlite } = options.database;
    this.#options = options;
    this.#add = sqlite.prepare<[string, string, number, string, string]>(
      `INSERT INTO recordings (video_id, project_id, live_stream_id, broadcast_id, started_at_ms, title, is_public, player_id)
       SELECT ?, project_id, id, ?, ?, name, is_public, player_id FROM live_streams WHERE id = ? AND project_id = ?`,
    );
    this.#refresh = sqlite.prepare<[string]>(
      `UPDATE recordings SET (title, is_public, player_id) = (s.name, s.is_public, s.player_id)
       FROM live_streams s WHERE s.id = recordings.live_stream_id AND recordings.video_id = ?`,
    );
    this.#find = sqlite.prepare<[string], RecordingRow>('SELECT * FROM recordings WHERE video_id = ?');
  }

  open({ videoId, projectId, liveStreamId, broadcastId, startedAtMs }: NewRecording): boolean {
    return this.#add.run(videoId, broadcastId, startedAtMs, liveStreamId, projectId).changes === 1;
  }

  close(videoId: string): void {
    this.#refresh.run(videoId);
  }

  unfinished(): NewRecording[] {
    const { database } = this.#options;
    return database
      .all(database.queries.selectFrom('recordings').selectAll().orderBy('started_at_ms'))
      .map(row => ({
        videoId: row.video_id,
        projectId: row.project_id,
        liveStreamId: row.live_stream_id,
        broadcastId: row.broadcast_id,
        startedAtMs: row.started_at_ms,
      }));
  }

  isOpen(videoId: string): boolean {
    return this.#find.get(videoId) !== undefined;
  }

  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void {
    const { database, outbox, addVideo } = this.#options;
    const { videoId, projectId, liveStreamId, startedAtMs } = recording;
    database.transaction(() => {
      const row = this.#find.get(videoId);
      addVideo(projectId, {
        videoId,
        liveStreamId,
        title: row?.title ?? '',
        public: row?.is_public !== 0,
        playerId: row?.player_id ?? undefined,
      });
      database.run(
        database.queries.insertInto('video_sources').values({
          ...{ video_id: videoId, origin: 'recording', form: null, address: null, upload_token: null },
          ...{ status: sourceBytes === undefined ? 'ingesting' : 'ingested', total: null, failure: null },
          ...{ bytes: sourceBytes ?? null, started_at_ms: startedAtMs },
          completed_at_ms: sourceBytes === undefined ? null : atMs,
          ...{ is_joined: 0, upload_client: null, upload_file_name: null },
        }),
      );
      const payload = { liveStreamId, videoId };
      outbox.append({ projectId, type: recordedEvent, subjectId: videoId, payload }, atMs);
      this.remove(videoId);
    });
  }

  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean {
    const { database } = this.#options;
    return (
      database.run(
        database.queries
          .updateTable('video_sources')
          .set({ status: 'ingested', bytes: sourceBytes, failure: null, completed_at_ms: atMs, is_joined: 1 })
          .where('video_id', '=', videoId),
      ) === 1
    );
  }

  sourceFailed(videoId: string, failure: string, atMs: number): void {
    const { database } = this.#options;
    database.run(
      database.queries
        .updateTable('video_sources')
        .set({ status: 'failed', failure, completed_at_ms: atMs })
        .where('video_id', '=', videoId)
        .where('completed_at_ms', 'is', null),
    );
  }

  remove(videoId: string): void {
    const { database } = this.#options;
    database.run(database.queries.deleteFrom('recordings').where('video_id', '=', videoId));
  }

  appendStoppedEvent(
    recording: NewRecording,
    { reason, videoId }: Parameters<RecordingRepository['appendStoppedEvent']>[1],
    atMs: number,
  ): void {
    const told = { ...(videoId === undefined ? {} : { videoId }), reason };
    this.#options.outbox.appendLiveStreamEvent(recording, stoppedEvent, told, atMs);
  }

  transaction(work: () => void): void {
    this.#options.database.transaction(work);
  }
}
