import type { Outbox } from '../../events/outbox.store.ts';
import type { Database } from '../../store/database.ts';
import type { RecordingRow } from '../../store/media-tables.ts';
import type { NewRecording, RecordingRepository } from '../../vod/recording/recording-repository.ts';
import { VideoSourcesStore } from '../uploads/video-sources.store.ts';

interface RecordedVideo {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
}

export interface RecordingsStoreOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  /** Called in a transaction. */
  readonly addVideo: (projectId: string, video: RecordedVideo) => void;
}

export class RecordingsStore implements RecordingRepository {
  readonly #options: RecordingsStoreOptions;
  readonly #database: Database;
  readonly #sources: VideoSourcesStore;

  constructor(options: RecordingsStoreOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#sources = new VideoSourcesStore(options.database);
  }

  open({ videoId, projectId, liveStreamId, broadcastId, startedAtMs }: NewRecording): boolean {
    const { queries } = this.#database;
    const added = this.#database.run(
      queries
        .insertInto('recordings')
        .columns([
          'video_id',
          'project_id',
          'live_stream_id',
          'broadcast_id',
          'started_at_ms',
          'title',
          'is_public',
          'player_id',
        ])
        .expression(
          queries
            .selectFrom('live_streams')
            .select(({ val }) => [
              val(videoId).as('video_id'),
              'project_id',
              'id',
              val(broadcastId).as('broadcast_id'),
              val(startedAtMs).as('started_at_ms'),
              'name',
              'is_public',
              'player_id',
            ])
            .where('id', '=', liveStreamId)
            .where('project_id', '=', projectId),
        ),
    );
    return added === 1;
  }

  close(videoId: string): void {
    this.#database.run(
      this.#database.queries
        .updateTable('recordings')
        .from('live_streams as stream')
        .set(({ ref }) => ({
          title: ref('stream.name'),
          is_public: ref('stream.is_public'),
          player_id: ref('stream.player_id'),
        }))
        .whereRef('stream.id', '=', 'recordings.live_stream_id')
        .where('recordings.video_id', '=', videoId),
    );
  }

  unfinished(): NewRecording[] {
    const { queries } = this.#database;
    return this.#database
      .all(queries.selectFrom('recordings').selectAll().orderBy('started_at_ms'))
      .map(row => ({
        videoId: row.video_id,
        projectId: row.project_id,
        liveStreamId: row.live_stream_id,
        broadcastId: row.broadcast_id,
        startedAtMs: row.started_at_ms,
      }));
  }

  isOpen(videoId: string): boolean {
    return this.#find(videoId) !== undefined;
  }

  convertToVideo(recording: NewRecording, sourceBytes: number | undefined, atMs: number): void {
    const { outbox, addVideo } = this.#options;
    const { videoId, projectId, liveStreamId, startedAtMs } = recording;
    this.transaction(() => {
      const row = this.#find(videoId);
      addVideo(projectId, {
        videoId,
        liveStreamId,
        title: row?.title ?? '',
        public: row?.is_public !== 0,
        playerId: row?.player_id ?? undefined,
      });
      this.#sources.begin({ videoId, origin: 'recording', status: 'ingesting', startedAtMs });
      if (sourceBytes !== undefined) this.#sources.complete(videoId, 'ingested', sourceBytes, atMs);
      const payload = { liveStreamId, videoId };
      outbox.append({ projectId, type: 'video.source.recorded', subjectId: videoId, payload }, atMs);
      this.remove(videoId);
    });
  }

  sourceReady(videoId: string, sourceBytes: number, atMs: number): boolean {
    return this.#sources.complete(videoId, 'ingested', sourceBytes, atMs, { isJoined: true });
  }

  sourceFailed(videoId: string, failure: string, atMs: number): void {
    if (this.#sources.source(videoId)?.status === 'failed') return;
    this.#sources.fail(videoId, failure, atMs);
  }

  remove(videoId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('recordings').where('video_id', '=', videoId));
  }

  appendStoppedEvent(
    recording: NewRecording,
    { reason, videoId }: Parameters<RecordingRepository['appendStoppedEvent']>[1],
    atMs: number,
  ): void {
    const payload = { ...(videoId === undefined ? {} : { videoId }), reason };
    this.#options.outbox.appendLiveStreamEvent(recording, 'live-stream.recording.stopped', payload, atMs);
  }

  transaction(work: () => void): void {
    this.#database.transaction(work);
  }

  #find(videoId: string): RecordingRow | undefined {
    return this.#database.first(
      this.#database.queries.selectFrom('recordings').selectAll().where('video_id', '=', videoId),
    );
  }
}
