import type { Outbox } from '../../../events/outbox.store.ts';
import type { PlaybackPolicy } from '../../../shared/playback-policy.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';
import type { NewRecording, RecordingRepository } from '../../../vod/recording/recording-repository.ts';
import { policyFrom } from '../../playback/playback-policies/playback-policy.store.ts';
import { VideoSourcesStore } from '../../videos/uploads/video-sources.store.ts';
import { recordingTitle } from './recording-title.ts';

interface RecordedVideo {
  readonly videoId: string;
  readonly liveStreamId: string;
  readonly title: string;
  readonly public: boolean;
  readonly playerId: string | undefined;
  readonly playbackPolicy: PlaybackPolicy | undefined;
}

interface RecordingsStoreOptions {
  readonly database: Database;
  readonly outbox: Outbox;
  /** Id of this server; undefined when no other one shares its files. */
  readonly nodeId: string | undefined;
  /** Ids of the servers that take recordings over. */
  readonly listTakers: () => Promise<readonly string[]>;
  readonly addVideo: (projectId: string, video: RecordedVideo, transaction: Transaction) => Promise<unknown>;
}

const rowsPerStatement = 500;

export class RecordingsStore implements RecordingRepository {
  readonly #options: RecordingsStoreOptions;
  readonly #database: Database;
  readonly #sources: VideoSourcesStore;

  constructor(options: RecordingsStoreOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#sources = new VideoSourcesStore(options.database);
  }

  async open({ videoId, projectId, liveStreamId, broadcastId, startedAtMs }: NewRecording): Promise<boolean> {
    const { queries } = this.#database;
    const added = await this.#database.run(
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
          'playback_policy',
          'node_id',
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
              'playback_policy',
              val(this.#options.nodeId ?? null).as('node_id'),
            ])
            .where('id', '=', liveStreamId)
            .where('project_id', '=', projectId),
        ),
    );
    return added === 1;
  }

  async close(videoId: string): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('recordings')
        .from('live_streams as stream')
        .set(({ ref }) => ({
          title: ref('stream.name'),
          is_public: ref('stream.is_public'),
          player_id: ref('stream.player_id'),
          playback_policy: ref('stream.playback_policy'),
        }))
        .whereRef('stream.id', '=', 'recordings.live_stream_id')
        .where('recordings.video_id', '=', videoId),
    );
  }

  async unfinished(): Promise<NewRecording[]> {
    const { nodeId } = this.#options;
    let query = this.#database.queries
      .selectFrom('recordings')
      .selectAll()
      .orderBy('started_at_ms')
      .orderBy('video_id');
    if (nodeId !== undefined)
      query = query.where(({ or, eb }) => or([eb('node_id', 'is', null), eb('node_id', '=', nodeId)]));
    return (await this.#database.all(query)).map(row => ({
      videoId: row.video_id,
      projectId: row.project_id,
      liveStreamId: row.live_stream_id,
      broadcastId: row.broadcast_id,
      startedAtMs: row.started_at_ms,
    }));
  }

  async isOpen(videoId: string, connection: Connection = this.#database): Promise<boolean> {
    const row = await this.#find(videoId, connection);
    return row !== undefined && this.#isOwn(row);
  }

  /** Tells whether a recording exists, on any server. */
  async exists(videoId: string, connection: Connection = this.#database): Promise<boolean> {
    return (await this.#find(videoId, connection)) !== undefined;
  }

  async hasVideo(videoId: string): Promise<boolean> {
    const video = this.#database.queries.selectFrom('videos').select('id').where('id', '=', videoId);
    return (await this.#database.first(video.where('live_stream_id', 'is not', null))) !== undefined;
  }

  async sourceExtended(videoId: string, sourceBytes: number, transaction: Transaction): Promise<boolean> {
    const changed = await transaction.run(
      transaction.queries
        .updateTable('video_sources')
        .set({ bytes: sourceBytes })
        .where('video_id', '=', videoId)
        .where('status', '=', 'ingested'),
    );
    return changed === 1;
  }

  async mayContinue({ broadcastId }: NewRecording): Promise<boolean> {
    if (this.#options.nodeId === undefined) return false;
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('broadcasts')
        .select('id')
        .where('id', '=', broadcastId)
        .where('ended_at_ms', 'is', null),
    );
    return row !== undefined;
  }

  /** Servers take recordings in turn, so that each has some of the longest, which began first. */
  async takeOver(goneId: string): Promise<void> {
    const { nodeId, listTakers } = this.#options;
    const takers = nodeId === undefined ? [] : (await listTakers()).filter(id => id !== goneId);
    await this.#database.transaction(async transaction => {
      const { queries } = transaction;
      const rows = await transaction.all(
        queries
          .selectFrom('recordings')
          .select('video_id')
          .where('node_id', '=', goneId)
          .orderBy('started_at_ms')
          .orderBy('video_id'),
      );
      if (rows.length === 0) return;
      const byTaker = Map.groupBy(rows, (_, index) => takers[index % takers.length] ?? nodeId ?? null);
      for (const [taker, taken] of byTaker) {
        for (let first = 0; first < taken.length; first += rowsPerStatement) {
          const ids = taken.slice(first, first + rowsPerStatement).map(row => row.video_id);
          await transaction.run(
            queries
              .updateTable('recordings')
              .set({ node_id: taker })
              .where('node_id', '=', goneId)
              .where('video_id', 'in', ids),
          );
        }
      }
      await this.#database.signals.send('recordings', goneId, transaction);
    });
  }

  onTakenOver(listener: () => void): () => void {
    return this.#database.signals.listen('recordings', listener);
  }

  async convertToVideo(
    recording: NewRecording,
    sourceBytes: number | undefined,
    atMs: number,
    transaction: Transaction,
  ): Promise<boolean> {
    const { outbox, addVideo, nodeId } = this.#options;
    const { videoId, projectId, liveStreamId, startedAtMs } = recording;
    if (nodeId !== undefined) await transaction.lock('recording', videoId);
    const row = await this.#find(videoId, transaction);
    if (nodeId !== undefined && (row === undefined || !this.#isOwn(row))) return false;
    const video: RecordedVideo = {
      videoId,
      liveStreamId,
      title: recordingTitle(row?.title ?? '', startedAtMs),
      public: row?.is_public !== 0,
      playerId: row?.player_id ?? undefined,
      playbackPolicy: policyFrom(row?.playback_policy ?? null),
    };
    await addVideo(projectId, video, transaction);
    const source = { videoId, origin: 'recording', status: 'ingesting', startedAtMs } as const;
    await this.#sources.begin(source, transaction);
    if (sourceBytes !== undefined) {
      await this.#sources.complete(videoId, { status: 'ingested', bytes: sourceBytes, atMs }, transaction);
    }
    const payload = { liveStreamId, videoId };
    const event = { projectId, type: 'video.source.recorded', subjectId: videoId, payload } as const;
    await outbox.append(event, atMs, transaction);
    await this.remove(videoId, transaction);
    return true;
  }

  sourceReady(
    videoId: string,
    sourceBytes: number,
    atMs: number,
    transaction: Transaction,
  ): Promise<boolean> {
    const completion = { status: 'ingested', bytes: sourceBytes, atMs, isJoined: true } as const;
    return this.#sources.complete(videoId, completion, transaction);
  }

  async sourceFailed(
    videoId: string,
    failure: string,
    atMs: number,
    connection: Connection = this.#database,
  ): Promise<void> {
    await connection.transaction(async transaction => {
      const source = await this.#sources.source(videoId, transaction);
      if (source?.status !== 'failed') await this.#sources.fail(videoId, failure, atMs, transaction);
    });
  }

  async remove(videoId: string, connection: Connection = this.#database): Promise<void> {
    await connection.run(connection.queries.deleteFrom('recordings').where('video_id', '=', videoId));
  }

  appendStoppedEvent(
    recording: NewRecording,
    { reason, videoId }: Parameters<RecordingRepository['appendStoppedEvent']>[1],
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    const payload = { videoId, reason };
    const type = 'live-stream.recording.stopped';
    return this.#options.outbox.appendLiveStreamEvent(recording, type, payload, atMs, transaction);
  }

  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#database.transaction(work);
  }

  /** Servers of earlier versions did not write down who records. */
  #isOwn({ node_id: nodeId }: Row<'recordings'>): boolean {
    return this.#options.nodeId === undefined || nodeId === null || nodeId === this.#options.nodeId;
  }

  #find(videoId: string, connection: Connection): Promise<Row<'recordings'> | undefined> {
    return connection.first(
      connection.queries.selectFrom('recordings').selectAll().where('video_id', '=', videoId),
    );
  }
}
