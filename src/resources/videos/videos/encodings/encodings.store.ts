import { sql } from 'kysely';
import type { EventType } from '../../../../events/event-catalogue.ts';
import type { NewEvent, Outbox } from '../../../../events/outbox.store.ts';
import type { AdditionalCodec } from '../../../../shared/additional-codecs.ts';
import type { Clock } from '../../../../shared/clock.ts';
import {
  type PlaybackPolicy,
  restrictingPolicy,
  type ViewerLimits,
} from '../../../../shared/playback-policy.ts';
import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import { asText, type Bound, prepareQuery } from '../../../../store/prepared-query.ts';
import type { Row } from '../../../../store/tables.ts';
import type {
  AudioTrack,
  EncodingRepository,
  EncodingRequest,
  EncodingState,
  FinishedRendition,
  RenditionName,
} from '../../../../vod/encoding-repository.ts';
import { isAudioOnlyOf } from '../video-row.ts';
import {
  changeEncoding,
  encodedRendition,
  requestOf,
  type VideoOwner,
  videoOwnerOf,
  waitingRendition,
} from './change-encoding.ts';
import { codecRenditionFrom, renditionFrom } from './rendition-rows.ts';
import { isPlayable, RenditionsStore } from './renditions.store.ts';

export interface VideoForViewers {
  readonly projectId: string;
  readonly title: string;
  readonly public: boolean;
  /** True when it is in the channel of the project. */
  readonly listed: boolean;
  readonly isSandbox: boolean;
  readonly policy: PlaybackPolicy | undefined;
  readonly limits: ViewerLimits | undefined;
  /** Id of a video or live stream. */
  readonly clippedFrom: string | undefined;
  /** True when an MP4 is made. False for a video without a picture. */
  readonly mp4Support: boolean;
  readonly panoramic: boolean;
  readonly playerId: string | undefined;
  readonly isPlayable: boolean;
  readonly hasFailed: boolean;
  readonly hasStoryboard: boolean;
  readonly revision: number;
  readonly sourceMetadata: unknown;
}

/** `type` of a rendition in another codec than H.264 is the codec. */
interface ProgressingRendition {
  readonly type: RenditionName['type'] | AdditionalCodec;
  readonly quality: string;
}

type ProgressListener = (
  videoId: string,
  renditions: readonly ProgressingRendition[],
  percent: number,
) => void;

const completedEvent = 'video.encoding.quality.completed';
const encodingFailedEvent = 'video.encoding.failed';
const sourceFailedEvent = 'video.source.failed';
const renditionColumns = ['quality', 'position', 'status', 'progress_percent', 'file', 'facts'] as const;

export class EncodingsStore implements EncodingRepository {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  readonly #encoding;
  readonly #encodingWithRenditions;
  readonly #renditions;
  readonly #viewers;
  readonly #progressListeners = new Set<ProgressListener>();

  constructor(database: Database, outbox: Outbox, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#outbox = outbox;
    const { queries } = database;
    this.#encoding = prepareQuery<{ videoId: string }, Row<'video_encodings'>>(({ videoId }) =>
      queries.selectFrom('video_encodings').selectAll().where('video_id', '=', videoId),
    );
    this.#encodingWithRenditions = prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('video_encodings as e')
        .leftJoin(
          eb =>
            eb
              .selectFrom('renditions')
              .select(sql<AdditionalCodec | null>`NULL`.as('codec'))
              .select(['type', ...renditionColumns])
              .where('video_id', '=', asText(videoId))
              .unionAll(
                eb
                  .selectFrom('codec_renditions')
                  .select(['codec', sql<'hls'>`'hls'`.as('type'), ...renditionColumns])
                  .where('video_id', '=', asText(videoId)),
              )
              .as('r'),
          join => join.onTrue(),
        )
        .select(['e.facts', 'e.target_duration_seconds', 'e.is_playable', 'e.has_storyboard'])
        .select(['e.failure', 'e.revision', 'e.audio_tracks', 'e.has_source_captions'])
        .select(['r.codec', 'r.type', 'r.quality', 'r.status', 'r.progress_percent', 'r.file'])
        .select('r.facts as rendition_facts')
        .where('e.video_id', '=', asText(videoId))
        .orderBy('r.position'),
    );
    this.#renditions = new RenditionsStore(database);
    this.#viewers = prepareQuery(({ videoId }: Bound<{ videoId: string }>) =>
      queries
        .selectFrom('videos as v')
        .innerJoin('projects as p', 'p.id', 'v.project_id')
        .leftJoin('video_encodings as e', 'e.video_id', 'v.id')
        .leftJoin('video_sources as s', 's.video_id', 'v.id')
        .select([
          'v.project_id',
          'v.title',
          'v.is_public',
          'v.is_listed',
          'p.environment',
          'v.has_mp4_support',
          'v.is_panoramic',
          'v.player_id',
          'v.viewer_limits',
          'v.clipped_from',
        ])
        .select(['e.is_playable', 'e.has_storyboard', 'e.revision', 'e.facts'])
        .select(({ fn }) => fn.coalesce('e.failure', 's.failure').as('failure'))
        .select(({ fn }) => fn.coalesce('v.playback_policy', 'p.playback_policy').as('playback_policy'))
        .select(sql.raw<number | null>(isAudioOnlyOf('v.id')).as('is_audio_only'))
        .where('v.id', '=', asText(videoId))
        .where('v.discarded_at_ms', 'is', null),
    );
  }

  async request(
    videoId: string,
    connection: Connection = this.#database,
  ): Promise<EncodingRequest | undefined> {
    const row = await connection.first(requestOf(videoId, connection));
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      environment: row.environment,
      origin: row.origin ?? undefined,
      isJoined: row.is_joined === 1,
      isClip: row.clipped_from !== null,
      clip:
        row.clip_start_ms === null && row.clip_end_ms === null
          ? undefined
          : { startMs: row.clip_start_ms ?? 0, endMs: row.clip_end_ms ?? undefined },
      watermark: row.watermark === null ? undefined : (JSON.parse(row.watermark) as Record<string, string>),
      mp4Support: row.has_mp4_support === 1,
      language: row.language ?? undefined,
    };
  }

  async state(videoId: string, connection: Connection = this.#database): Promise<EncodingState | undefined> {
    // One query, so that the renditions are those of the same moment.
    const rows = await connection.all(this.#encodingWithRenditions({ videoId }));
    const [row] = rows;
    if (row === undefined) return undefined;
    return {
      sourceMetadata: JSON.parse(row.facts),
      targetDurationSeconds: row.target_duration_seconds ?? undefined,
      isPlayable: row.is_playable === 1,
      hasStoryboard: row.has_storyboard === 1,
      failure: row.failure ?? undefined,
      hasSourceCaptions: row.has_source_captions === 1,
      revision: row.revision,
      renditions: rows.flatMap(one => (one.type === null || one.codec !== null ? [] : renditionFrom(one))),
      codecRenditions: rows.flatMap(one => (one.codec === null ? [] : codecRenditionFrom(one))),
      audioTracks: row.audio_tracks === null ? [] : (JSON.parse(row.audio_tracks) as AudioTrack[]),
    };
  }

  async findForViewers(videoId: string): Promise<VideoForViewers | undefined> {
    const row = await this.#database.first(this.#viewers({ videoId }));
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      title: row.title,
      public: row.is_public === 1,
      listed: row.is_listed === 1,
      isSandbox: row.environment === 'sandbox',
      policy: restrictingPolicy(row.playback_policy),
      limits: row.viewer_limits === null ? undefined : (JSON.parse(row.viewer_limits) as ViewerLimits),
      clippedFrom: row.clipped_from ?? undefined,
      mp4Support: row.has_mp4_support === 1 && row.is_audio_only !== 1,
      panoramic: row.is_panoramic === 1,
      playerId: row.player_id ?? undefined,
      isPlayable: row.is_playable === 1,
      hasFailed: row.failure !== null && row.is_playable !== 1,
      hasStoryboard: row.has_storyboard === 1,
      revision: row.revision ?? 0,
      sourceMetadata: row.facts === null ? {} : JSON.parse(row.facts),
    };
  }

  async languageOf(videoId: string): Promise<string | undefined> {
    const { queries } = this.#database;
    const video = queries.selectFrom('videos').select('language').where('id', '=', videoId);
    return (await this.#database.first(video))?.language ?? undefined;
  }

  setPlan(
    videoId: string,
    sourceMetadata: unknown,
    renditions: readonly RenditionName[],
    connection: Connection = this.#database,
  ): Promise<void> {
    return changeEncoding(videoId, connection, async transaction => {
      const { queries } = transaction;
      await transaction.run(queries.deleteFrom('renditions').where('video_id', '=', videoId));
      await transaction.run(queries.deleteFrom('codec_renditions').where('video_id', '=', videoId));
      await transaction.run(
        queries
          .updateTable('video_encodings')
          .set({
            facts: JSON.stringify(sourceMetadata),
            failure: null,
            is_playable: 0,
            target_duration_seconds: null,
            audio_tracks: null,
          })
          .where('video_id', '=', videoId),
      );
      await this.#renditions.insert(videoId, renditions, transaction);
    });
  }

  setAudioTracks(videoId: string, tracks: readonly AudioTrack[], transaction: Transaction): Promise<void> {
    return changeEncoding(videoId, transaction, () =>
      updateEncoding(videoId, { audio_tracks: JSON.stringify(tracks) }, transaction),
    );
  }

  failAudio(videoId: string, qualities: readonly string[], transaction: Transaction): Promise<void> {
    const renditions = qualities.map(quality => ({ type: 'audio' as const, quality }));
    return changeEncoding(videoId, transaction, () =>
      this.#renditions.set(videoId, renditions, { status: 'failed' }, transaction),
    );
  }

  addRendition(
    videoId: string,
    rendition: RenditionName,
    connection: Connection = this.#database,
  ): Promise<void> {
    return changeEncoding(videoId, connection, transaction =>
      this.#renditions.insert(videoId, [rendition], transaction),
    );
  }

  removeRendition(
    videoId: string,
    { type, quality }: RenditionName,
    connection: Connection = this.#database,
  ): Promise<void> {
    return changeEncoding(videoId, connection, async transaction => {
      await transaction.run(
        transaction.queries
          .deleteFrom('renditions')
          .where('video_id', '=', videoId)
          .where('type', '=', type)
          .where('quality', '=', quality),
      );
    });
  }

  markWaiting(
    videoId: string,
    renditions: readonly RenditionName[],
    transaction: Transaction,
  ): Promise<void> {
    return changeEncoding(videoId, transaction, () =>
      this.#renditions.set(videoId, renditions, waitingRendition, transaction),
    );
  }

  markStarted(
    videoId: string,
    renditions: readonly RenditionName[],
    connection: Connection = this.#database,
  ): Promise<void> {
    return this.#renditions.set(videoId, renditions, { status: 'encoding', progress_percent: 0 }, connection);
  }

  /** Calls `listener` with percentages. Returns a function that stops this. */
  onProgress(listener: ProgressListener): () => void {
    this.#progressListeners.add(listener);
    return () => {
      this.#progressListeners.delete(listener);
    };
  }

  updateProgress(videoId: string, renditions: readonly RenditionName[], percent: number): Promise<void> {
    this.notifyProgress(videoId, renditions, percent);
    return this.#renditions.set(videoId, renditions, { progress_percent: Math.floor(percent) });
  }

  notifyProgress(videoId: string, renditions: readonly ProgressingRendition[], percent: number): void {
    for (const listener of this.#progressListeners) listener(videoId, renditions, percent);
  }

  markFinished(
    videoId: string,
    renditions: readonly FinishedRendition[],
    targetDurationSeconds?: number,
    connection: Connection = this.#database,
  ): Promise<void> {
    return changeEncoding(videoId, connection, async (transaction, owner) => {
      transaction.afterCommit(() => this.notifyProgress(videoId, renditions, 100));
      const before = await this.#renditions.ofVideo(videoId, transaction);
      for (const rendition of renditions) {
        const row = before.find(
          ({ type, quality }) => type === rendition.type && quality === rendition.quality,
        );
        if (row === undefined) continue;
        const { type, quality } = rendition;
        await this.#renditions.set(videoId, [rendition], encodedRendition(rendition), transaction);
        if (type === 'audio' || row.status === 'encoded') continue;
        await this.#appendEvent(completedEvent, videoId, { encoding: type, quality }, owner, transaction);
      }
      const after = await this.#renditions.ofVideo(videoId, transaction);
      await transaction.run(
        transaction.queries
          .updateTable('video_encodings')
          .set({
            is_playable: Number(isPlayable(after)),
            target_duration_seconds: targetDurationSeconds,
          })
          .where('video_id', '=', videoId),
      );
    });
  }

  updateMetadata(
    videoId: string,
    sourceMetadata: unknown,
    connection: Connection = this.#database,
  ): Promise<void> {
    return changeEncoding(videoId, connection, transaction =>
      updateEncoding(videoId, { facts: JSON.stringify(sourceMetadata) }, transaction),
    );
  }

  async markFailed(
    videoId: string,
    renditions: readonly RenditionName[],
    reason: string,
    connection: Connection = this.#database,
  ): Promise<void> {
    if (renditions.length === 0) return;
    await changeEncoding(videoId, connection, async (transaction, owner) => {
      await this.#renditions.set(videoId, renditions, { status: 'failed' }, transaction);
      await this.#appendFailed(videoId, reason, owner, transaction);
    });
  }

  markRefused(videoId: string, reason: string, connection: Connection = this.#database): Promise<void> {
    return changeEncoding(videoId, connection, async (transaction, owner) => {
      await transaction.run(
        transaction.queries
          .updateTable('video_encodings')
          .set({ failure: reason })
          .where('video_id', '=', videoId)
          .where('is_playable', '=', 0),
      );
      await this.#renditions.failUnfinished(videoId, transaction);
      await this.#appendFailed(videoId, reason, owner, transaction);
    });
  }

  async sourceFailed(videoId: string, reason: string, transaction: Transaction): Promise<void> {
    const video = await transaction.first(requestOf(videoId, transaction));
    if (video === undefined) return;
    await this.#appendEvent(sourceFailedEvent, videoId, { reason }, videoOwnerOf(video), transaction);
  }

  async hasFailed(videoId: string, connection: Connection = this.#database): Promise<boolean> {
    const row = await connection.first(this.#encoding({ videoId }));
    return row !== undefined && row.failure !== null && row.is_playable === 0;
  }

  async reset(videoId: string, transaction: Transaction): Promise<void> {
    if ((await transaction.first(this.#encoding({ videoId }))) === undefined) return;
    await this.setPlan(videoId, {}, [], transaction);
    await updateEncoding(videoId, { has_storyboard: 0, has_source_captions: 0 }, transaction);
  }

  markChanged(videoId: string): Promise<void> {
    return changeEncoding(videoId, this.#database, async () => {});
  }

  markCaptionsStored(videoId: string, transaction: Transaction): Promise<void> {
    return changeEncoding(videoId, transaction, () =>
      updateEncoding(videoId, { has_source_captions: 1 }, transaction),
    );
  }

  markStoryboardReady(videoId: string): Promise<void> {
    return changeEncoding(videoId, this.#database, transaction =>
      updateEncoding(videoId, { has_storyboard: 1 }, transaction),
    );
  }

  lockPlan(videoId: string, transaction: Transaction): Promise<void> {
    return transaction.lock('plan', videoId);
  }

  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#database.transaction(work);
  }

  async #appendFailed(
    videoId: string,
    reason: string,
    owner: VideoOwner,
    transaction: Transaction,
  ): Promise<void> {
    const playable = (await transaction.first(this.#encoding({ videoId })))?.is_playable === 1;
    await this.#appendEvent(encodingFailedEvent, videoId, { reason, playable }, owner, transaction);
  }

  #appendEvent(
    type: EventType,
    videoId: string,
    fields: NewEvent['payload'],
    { projectId, liveStreamId }: VideoOwner,
    transaction: Transaction,
  ): Promise<void> {
    const payload = { videoId, ...fields, ...(liveStreamId === null ? {} : { liveStreamId }) };
    const event = { projectId, type, subjectId: videoId, payload };
    return this.#outbox.append(event, this.#clock.nowMs(), transaction);
  }
}

async function updateEncoding(
  videoId: string,
  values: Partial<Row<'video_encodings'>>,
  transaction: Transaction,
): Promise<void> {
  await transaction.run(
    transaction.queries.updateTable('video_encodings').set(values).where('video_id', '=', videoId),
  );
}
