import { type Expression, sql } from 'kysely';
import type { EventType } from '../../../events/event-catalogue.ts';
import type { NewEvent, Outbox } from '../../../events/outbox.store.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Database } from '../../../store/database.ts';
import type { RenditionRow, VideoEncodingRow, VideoRow } from '../../../store/media-tables.ts';
import type { Bound } from '../../../store/prepared-query.ts';
import type {
  EncodingRepository,
  EncodingRequest,
  EncodingState,
  FinishedRendition,
  RenditionName,
  StoredRendition,
} from '../../../vod/encoding-repository.ts';
import { isPlayable, RenditionsStore } from './renditions.store.ts';

export interface VideoForViewers {
  readonly projectId: string;
  readonly title: string;
  readonly public: boolean;
  /** Also false for a video without a picture. */
  readonly mp4Support: boolean;
  readonly panoramic: boolean;
  readonly playerId: string | undefined;
  readonly isPlayable: boolean;
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly revision: number;
  readonly facts: unknown;
}

/** 1 when the renditions of a video are audio only, null before its source was probed. */
function isAudioOnlyOf(videoId: Expression<string>) {
  return sql<number | null>`(SELECT min(type = 'audio') FROM renditions WHERE video_id = ${videoId})`;
}

type ProgressListener = (videoId: string, renditions: readonly RenditionName[], percent: number) => void;

interface VideoOwner {
  readonly projectId: string;
  readonly liveStreamId: string | null;
}

const completedEvent = 'video.encoding.quality.completed';
const encodingFailedEvent = 'video.encoding.failed';
const sourceFailedEvent = 'video.source.failed';
const typeOrder: readonly RenditionName['type'][] = ['hls', 'mp4', 'audio'];

export class EncodingsStore implements EncodingRepository {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #encoding;
  readonly #renditions;
  readonly #viewers;
  readonly #audioOnly;
  readonly #progressListeners = new Set<ProgressListener>();

  constructor(database: Database, outbox: Outbox, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#outbox = outbox;
    const { queries } = database;
    this.#encoding = database.prepare<{ videoId: string }, VideoEncodingRow>(({ videoId }) =>
      queries.selectFrom('video_encodings').selectAll().where('video_id', '=', videoId),
    );
    this.#renditions = new RenditionsStore(database);
    this.#viewers = database.prepare(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('videos as v')
        .leftJoin('video_encodings as e', 'e.video_id', 'v.id')
        .leftJoin('video_sources as s', 's.video_id', 'v.id')
        .select([
          'v.project_id',
          'v.title',
          'v.is_public',
          'v.has_mp4_support',
          'v.is_panoramic',
          'v.player_id',
        ])
        .select(['e.is_playable', 'e.has_storyboard', 'e.revision', 'e.facts'])
        .select(({ fn }) => fn.coalesce('e.failure', 's.failure').as('failure'))
        .select(isAudioOnlyOf(videoId).as('is_audio_only'))
        .where('v.id', '=', videoId)
        .where('v.discarded_at_ms', 'is', null),
    );
    this.#audioOnly = database.prepare(({ videoId }: Bound<{ videoId: string }>) =>
      queries.selectNoFrom(isAudioOnlyOf(videoId).as('is_audio_only')),
    );
  }

  request(videoId: string): EncodingRequest | undefined {
    const row = this.#findRequest(videoId);
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
    const row = this.#encoding.first({ videoId });
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

  findForViewers(videoId: string): VideoForViewers | undefined {
    const row = this.#viewers.first({ videoId });
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

  isAudioOnly(videoId: string): boolean {
    return this.#audioOnly.first({ videoId })?.is_audio_only === 1;
  }

  languageOf(videoId: string): string | undefined {
    const { queries } = this.#database;
    const video = queries.selectFrom('videos').select('language').where('id', '=', videoId);
    return this.#database.first(video)?.language ?? undefined;
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

  /** Calls `listener` with percentages. Returns a function that stops this. */
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
    this.#change(videoId, () => this.#updateEncoding(videoId, { facts: JSON.stringify(facts) }));
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
          .where('is_playable', '=', 0),
      );
      this.#renditions.failUnfinished(videoId);
      this.#appendFailed(videoId, reason, owner);
    });
  }

  sourceFailed(videoId: string, reason: string): void {
    const video = this.#findRequest(videoId);
    if (video === undefined) return;
    this.#appendEvent(sourceFailedEvent, videoId, { reason }, videoOwnerOf(video));
  }

  hasFailed(videoId: string): boolean {
    const row = this.#encoding.first({ videoId });
    return row !== undefined && row.failure !== null && row.is_playable === 0;
  }

  reset(videoId: string): void {
    if (this.#encoding.first({ videoId }) === undefined) return;
    this.#database.transaction(() => {
      this.setPlan(videoId, {}, []);
      this.#updateEncoding(videoId, { has_storyboard: 0 });
    });
  }

  markChanged(videoId: string): void {
    this.#change(videoId, () => {});
  }

  markStoryboardReady(videoId: string): void {
    this.#change(videoId, () => this.#updateEncoding(videoId, { has_storyboard: 1 }));
  }

  transaction(work: () => void): void {
    this.#database.transaction(work);
  }

  /** Runs `work` in a transaction with the next revision. Does nothing when the video is deleted. */
  #change(videoId: string, work: (owner: VideoOwner) => void): void {
    this.#database.transaction(() => {
      const video = this.#findRequest(videoId);
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

  #updateEncoding(videoId: string, values: Partial<VideoEncodingRow>): void {
    this.#database.run(
      this.#database.queries.updateTable('video_encodings').set(values).where('video_id', '=', videoId),
    );
  }

  #findRequest(videoId: string) {
    return this.#database.first(
      this.#database.queries
        .selectFrom('videos as v')
        .innerJoin('projects as p', 'p.id', 'v.project_id')
        .leftJoin('video_sources as s', 's.video_id', 'v.id')
        .select(['v.project_id', 'v.clip_start_ms', 'v.clip_end_ms', 'v.watermark', 'v.has_mp4_support'])
        .select(['v.live_stream_id', 'p.environment', 's.origin', 's.is_joined'])
        .where('v.id', '=', videoId),
    );
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
    const playable = this.#encoding.first({ videoId })?.is_playable === 1;
    this.#appendEvent(encodingFailedEvent, videoId, { reason, playable }, owner);
  }

  #appendEvent(
    type: EventType,
    videoId: string,
    fields: NewEvent['payload'],
    { projectId, liveStreamId }: VideoOwner,
  ): void {
    const payload = { videoId, ...fields, ...(liveStreamId === null ? {} : { liveStreamId }) };
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
