import type { EventType } from '../../../events/event-catalogue.ts';
import type { NewEvent, Outbox } from '../../../events/outbox.store.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { ProjectRow } from '../../../store/account-tables.ts';
import type { Database } from '../../../store/database.ts';
import type {
  RenditionRow,
  VideoEncodingRow,
  VideoRow,
  VideoSourceRow,
} from '../../../store/media-tables.ts';
import type {
  EncodingRepository,
  EncodingRequest,
  EncodingState,
  FinishedRendition,
  RenditionName,
  StoredRendition,
} from '../../../vod/encoding-repository.ts';
import { isPlayable, RenditionsStore } from './renditions.store.ts';

/** What viewers' requests need of a video, whosever it is. */
export interface VideoForViewers {
  readonly projectId: string;
  readonly title: string;
  readonly public: boolean;
  /** False for a video of audio alone, too. */
  readonly mp4Support: boolean;
  readonly panoramic: boolean;
  readonly playerId: string | undefined;
  readonly isPlayable: boolean;
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly revision: number;
  readonly facts: unknown;
}

interface AudioOnlyRow {
  /** Null before the source was probed. */
  is_audio_only: number | null;
}

function audioOnlyColumn(videoId: 'v.id' | '?'): string {
  return `(SELECT min(type = 'audio') FROM renditions WHERE video_id = ${videoId}) AS is_audio_only`;
}

type ProgressListener = (videoId: string, renditions: readonly RenditionName[], percent: number) => void;

/** The owner of a video; `liveStreamId` of a recording. */
interface VideoOwner {
  readonly projectId: string;
  readonly liveStreamId: string | null;
}

const completedEvent = 'video.encoding.quality.completed';
const encodingFailedEvent = 'video.encoding.failed';
const sourceFailedEvent = 'video.source.failed';
const typeOrder: readonly RenditionName['type'][] = ['hls', 'mp4', 'audio'];

/** How far the encoding of each video has come, in the database. */
export class EncodingsStore implements EncodingRepository {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #encoding;
  readonly #renditions;
  readonly #order;
  readonly #viewers;
  readonly #audioOnly;
  readonly #language;
  readonly #progressListeners = new Set<ProgressListener>();

  constructor(database: Database, outbox: Outbox, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#outbox = outbox;
    this.#encoding = database.sqlite.prepare<[string], VideoEncodingRow>(
      'SELECT * FROM video_encodings WHERE video_id = ?',
    );
    this.#renditions = new RenditionsStore(database);
    this.#order = database.sqlite.prepare<
      [string],
      Pick<
        VideoRow,
        'project_id' | 'clip_start_ms' | 'clip_end_ms' | 'watermark' | 'has_mp4_support' | 'live_stream_id'
      > &
        Pick<ProjectRow, 'environment'> & {
          origin: VideoSourceRow['origin'] | null;
          is_joined: number | null;
        }
    >(
      `SELECT v.project_id, v.clip_start_ms, v.clip_end_ms, v.watermark, v.has_mp4_support, v.live_stream_id,
         p.environment, s.origin, s.is_joined
       FROM videos v JOIN projects p ON p.id = v.project_id LEFT JOIN video_sources s ON s.video_id = v.id
       WHERE v.id = ?`,
    );
    this.#viewers = database.sqlite.prepare<
      [string],
      Pick<
        VideoRow,
        'project_id' | 'title' | 'is_public' | 'has_mp4_support' | 'is_panoramic' | 'player_id'
      > & {
        [Key in 'is_playable' | 'has_storyboard' | 'failure' | 'revision' | 'facts']:
          | VideoEncodingRow[Key]
          | null;
      } & AudioOnlyRow
    >(
      `SELECT v.project_id, v.title, v.is_public, v.has_mp4_support, v.is_panoramic, v.player_id,
         e.is_playable, e.has_storyboard, coalesce(e.failure, s.failure) AS failure, e.revision, e.facts,
         ${audioOnlyColumn('v.id')}
       FROM videos v LEFT JOIN video_encodings e ON e.video_id = v.id
         LEFT JOIN video_sources s ON s.video_id = v.id
       WHERE v.id = ? AND v.discarded_at_ms IS NULL`,
    );
    this.#language = database.sqlite.prepare<[string], Pick<VideoRow, 'language'>>(
      'SELECT language FROM videos WHERE id = ?',
    );
    this.#audioOnly = database.sqlite.prepare<[string], AudioOnlyRow>(`SELECT ${audioOnlyColumn('?')}`);
  }

  request(videoId: string): EncodingRequest | undefined {
    const row = this.#order.get(videoId);
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      environment: row.environment,
      origin: row.origin ?? undefined,
      isJoined: row.is_joined === 1,
      clip:
        row.clip_start_ms === null && row.clip_end_ms === null
          ? undefined
          : { startMs: row.clip_start_ms ?? 0, endMs: row.clip_end_ms ?? undefined },
      watermark: row.watermark === null ? undefined : (JSON.parse(row.watermark) as Record<string, string>),
      mp4Support: row.has_mp4_support === 1,
    };
  }

  state(videoId: string): EncodingState | undefined {
    const row = this.#encoding.get(videoId);
    if (row === undefined) return undefined;
    return {
      facts: JSON.parse(row.facts),
      targetDurationSeconds: row.target_duration_seconds ?? undefined,
      isPlayable: row.is_playable === 1,
      hasStoryboard: row.has_storyboard === 1,
      failure: row.failure ?? undefined,
      revision: row.revision,
      renditions: this.#renditions.ofVideo(videoId).map(renditionFrom),
    };
  }

  /** What viewers' requests need; undefined for a video that is unknown or discarded. */
  findForViewers(videoId: string): VideoForViewers | undefined {
    const row = this.#viewers.get(videoId);
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      title: row.title,
      public: row.is_public === 1,
      mp4Support: row.has_mp4_support === 1 && row.is_audio_only !== 1,
      panoramic: row.is_panoramic === 1,
      playerId: row.player_id ?? undefined,
      isPlayable: row.is_playable === 1,
      hasFailed: row.failure !== null && row.is_playable !== 1,
      hasStoryboard: row.has_storyboard === 1,
      revision: row.revision ?? 0,
      facts: row.facts === null ? {} : JSON.parse(row.facts),
    };
  }

  /** Tells whether the source has audio alone, so that there will be no mp4. */
  isAudioOnly(videoId: string): boolean {
    return this.#audioOnly.get(videoId)?.is_audio_only === 1;
  }

  /** The language that the owner gave the video. */
  languageOf(videoId: string): string | undefined {
    return this.#language.get(videoId)?.language ?? undefined;
  }

  setPlan(videoId: string, facts: unknown, renditions: readonly RenditionName[]): void {
    this.#change(videoId, () => {
      const { queries } = this.#database;
      this.#database.run(queries.deleteFrom('renditions').where('video_id', '=', videoId));
      this.#database.run(
        queries
          .updateTable('video_encodings')
          .set({
            facts: JSON.stringify(facts),
            failure: null,
            is_playable: 0,
            target_duration_seconds: null,
          })
          .where('video_id', '=', videoId),
      );
      for (const rendition of renditions) this.#insertRendition(videoId, rendition);
    });
  }

  addRendition(videoId: string, rendition: RenditionName): void {
    this.#change(videoId, () => this.#insertRendition(videoId, rendition));
  }

  removeRendition(videoId: string, { type, quality }: RenditionName): void {
    this.#change(videoId, () =>
      this.#database.run(
        this.#database.queries
          .deleteFrom('renditions')
          .where('video_id', '=', videoId)
          .where('type', '=', type)
          .where('quality', '=', quality),
      ),
    );
  }

  markStarted(videoId: string, renditions: readonly RenditionName[]): void {
    this.#updateRenditions(videoId, renditions, { status: 'encoding', progress_percent: 0 });
  }

  /** Calls `listener` each time that an encode has come further, with 100 when it is done; the returned function ends that. */
  onProgress(listener: ProgressListener): () => void {
    this.#progressListeners.add(listener);
    return () => {
      this.#progressListeners.delete(listener);
    };
  }

  updateProgress(videoId: string, renditions: readonly RenditionName[], percent: number): void {
    this.#notifyProgress(videoId, renditions, percent);
    this.#updateRenditions(videoId, renditions, { progress_percent: Math.floor(percent) });
  }

  #notifyProgress(videoId: string, renditions: readonly RenditionName[], percent: number): void {
    for (const listener of this.#progressListeners) listener(videoId, renditions, percent);
  }

  markFinished(
    videoId: string,
    renditions: readonly FinishedRendition[],
    targetDurationSeconds?: number,
  ): void {
    this.#notifyProgress(videoId, renditions, 100);
    this.#change(videoId, owner => {
      const before = this.#renditions.ofVideo(videoId);
      for (const rendition of renditions) {
        const row = before.find(
          ({ type, quality }) => type === rendition.type && quality === rendition.quality,
        );
        // Nobody wants it any more.
        if (row === undefined) continue;
        this.#renditions.set(videoId, rendition, {
          status: 'encoded',
          progress_percent: 100,
          file: rendition.file,
          facts: JSON.stringify(rendition.facts),
        });
        if (rendition.type !== 'audio' && row.status !== 'encoded')
          this.#appendCompleted(videoId, rendition, owner);
      }
      this.#database.run(
        this.#database.queries
          .updateTable('video_encodings')
          .set({
            is_playable: Number(isPlayable(this.#renditions.ofVideo(videoId))),
            ...(targetDurationSeconds === undefined
              ? {}
              : { target_duration_seconds: targetDurationSeconds }),
          })
          .where('video_id', '=', videoId),
      );
    });
  }

  updateMetadata(videoId: string, facts: unknown): void {
    this.#change(videoId, () =>
      this.#database.run(
        this.#database.queries
          .updateTable('video_encodings')
          .set({ facts: JSON.stringify(facts) })
          .where('video_id', '=', videoId),
      ),
    );
  }

  markFailed(videoId: string, renditions: readonly RenditionName[], reason: string): void {
    if (renditions.length === 0) return;
    this.#change(videoId, owner => {
      this.#updateRenditions(videoId, renditions, { status: 'failed' });
      this.#appendFailed(videoId, reason, owner);
    });
  }

  markRefused(videoId: string, reason: string): void {
    this.#change(videoId, owner => {
      this.#database.run(
        this.#database.queries
          .updateTable('video_encodings')
          .set({ failure: reason })
          .where('video_id', '=', videoId)
          // Something came of it.
          .where('is_playable', '=', 0),
      );
      this.#renditions.failUnfinished(videoId);
      this.#appendFailed(videoId, reason, owner);
    });
  }

  sourceFailed(videoId: string, reason: string): void {
    const video = this.#order.get(videoId);
    if (video === undefined) return;
    this.#appendEvent(sourceFailedEvent, videoId, { reason }, videoOwnerOf(video));
  }

  /** Tells whether nothing of a video can be played, and nothing more will come of its source. */
  hasFailed(videoId: string): boolean {
    const row = this.#encoding.get(videoId);
    return row !== undefined && row.failure !== null && row.is_playable === 0;
  }

  /** Forgets all that is known of a video's source and was made of it: another one comes. */
  reset(videoId: string): void {
    if (this.#encoding.get(videoId) === undefined) return;
    this.#database.transaction(() => {
      this.setPlan(videoId, {}, []);
      this.#database.run(
        this.#database.queries
          .updateTable('video_encodings')
          .set({ has_storyboard: 0 })
          .where('video_id', '=', videoId),
      );
    });
  }

  markChanged(videoId: string): void {
    this.#change(videoId, () => {});
  }

  markStoryboardReady(videoId: string): void {
    this.#change(videoId, () =>
      this.#database.run(
        this.#database.queries
          .updateTable('video_encodings')
          .set({ has_storyboard: 1 })
          .where('video_id', '=', videoId),
      ),
    );
  }

  transaction(work: () => void): void {
    this.#database.transaction(work);
  }

  /** In one transaction, with the next revision; nothing when the video is gone. */
  #change(videoId: string, work: (owner: VideoOwner) => void): void {
    this.#database.transaction(() => {
      const video = this.#order.get(videoId);
      if (video === undefined) return;
      this.#database.run(
        this.#database.queries
          .insertInto('video_encodings')
          .values({
            video_id: videoId,
            facts: '{}',
            target_duration_seconds: null,
            is_playable: 0,
            has_storyboard: 0,
            failure: null,
            revision: 1,
          })
          .onConflict(conflict =>
            conflict.doUpdateSet(expression => ({
              revision: expression('video_encodings.revision', '+', 1),
            })),
          ),
      );
      work(videoOwnerOf(video));
    });
  }

  #insertRendition(videoId: string, { type, quality }: RenditionName): void {
    this.#database.run(
      this.#database.queries
        .insertInto('renditions')
        .values({
          video_id: videoId,
          type,
          quality,
          position: typeOrder.indexOf(type) * 100_000 + (Number.parseInt(quality, 10) || 0),
          status: 'waiting',
          progress_percent: 0,
          file: null,
          facts: null,
        })
        .onConflict(conflict => conflict.doNothing()),
    );
  }

  #updateRenditions(
    videoId: string,
    renditions: readonly RenditionName[],
    values: Partial<RenditionRow>,
  ): void {
    this.#database.transaction(() => {
      for (const rendition of renditions) this.#renditions.set(videoId, rendition, values);
    });
  }

  #appendCompleted(videoId: string, { type, quality }: RenditionName, owner: VideoOwner): void {
    this.#appendEvent(completedEvent, videoId, { encoding: type, quality }, owner);
  }

  #appendFailed(videoId: string, reason: string, owner: VideoOwner): void {
    const playable = this.#encoding.get(videoId)?.is_playable === 1;
    this.#appendEvent(encodingFailedEvent, videoId, { reason, playable }, owner);
  }

  #appendEvent(
    type: EventType,
    videoId: string,
    told: NewEvent['payload'],
    { projectId, liveStreamId }: VideoOwner,
  ): void {
    const payload = { videoId, ...told, ...(liveStreamId === null ? {} : { liveStreamId }) };
    this.#outbox.append({ projectId, type, subjectId: videoId, payload }, this.#clock.nowMs());
  }
}

function videoOwnerOf(video: Pick<VideoRow, 'project_id' | 'live_stream_id'>): VideoOwner {
  return { projectId: video.project_id, liveStreamId: video.live_stream_id };
}

function renditionFrom(row: RenditionRow): StoredRendition {
  return {
    type: row.type,
    quality: row.quality,
    status: row.status,
    progressPercent: row.progress_percent,
    file: row.file ?? undefined,
    facts: row.facts === null ? undefined : JSON.parse(row.facts),
  };
}
