import type { EventType } from '../../../../events/event-catalogue.ts';
import type { Outbox } from '../../../../events/outbox.store.ts';
import type { Clock } from '../../../../shared/clock.ts';
import { newId } from '../../../../shared/ids.ts';
import { yieldToEventLoop } from '../../../../shared/scheduling/yield-to-event-loop.ts';
import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import type { Row } from '../../../../store/tables.ts';
import type {
  GeneratedCaptions,
  SummaryFailure,
  TranscriptPart,
  TranscriptRepository,
  TranscriptState,
  WaitingSummary,
} from '../../../../vod/transcripts/transcript-repository.ts';
import { languages } from '../video.ts';

const captionsGenerated: EventType = 'video.caption.generated';
const summaryGenerated: EventType = 'video.summary.generated';

export class TranscriptsStore implements TranscriptRepository {
  readonly #database: Database;
  readonly #outbox: Outbox;
  readonly #clock: Clock;

  constructor(database: Database, outbox: Outbox, clock: Clock) {
    this.#database = database;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  async state(
    videoId: string,
    connection: Connection = this.#database,
  ): Promise<TranscriptState | undefined> {
    const row = await connection.first(
      connection.queries.selectFrom('transcripts').selectAll().where('video_id', '=', videoId),
    );
    if (row === undefined) return undefined;
    return {
      status: row.status,
      progressPercent: row.progress_percent,
      language: row.language ?? undefined,
      failure: row.failure ?? undefined,
    };
  }

  /** Returns false when it waits or runs already. */
  async request(videoId: string, transaction: Transaction): Promise<boolean> {
    const status = (await this.state(videoId, transaction))?.status;
    if (status === 'waiting' || status === 'processing') return false;
    await this.restart(videoId, transaction);
    return true;
  }

  async restart(videoId: string, transaction: Transaction): Promise<void> {
    await this.#removeParts(videoId, transaction);
    const waiting = { status: 'waiting', progress_percent: 0, language: null, failure: null } as const;
    await transaction.run(
      transaction.queries
        .insertInto('transcripts')
        .values({ video_id: videoId, ...waiting })
        .onConflict(conflict => conflict.column('video_id').doUpdateSet(waiting)),
    );
  }

  /** Returns false when it neither waits nor runs. */
  async withdraw(videoId: string, transaction: Transaction): Promise<boolean> {
    const count = await transaction.run(
      transaction.queries
        .deleteFrom('transcripts')
        .where('video_id', '=', videoId)
        .where('status', 'in', ['waiting', 'processing']),
    );
    return count > 0;
  }

  async parts(videoId: string): Promise<TranscriptPart[]> {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('transcript_parts')
        .selectAll()
        .where('video_id', '=', videoId)
        .orderBy('start_ms'),
    );
    const parts: TranscriptPart[] = [];
    for (const row of rows) {
      parts.push({
        startMs: row.start_ms,
        endMs: row.end_ms,
        language: row.language ?? undefined,
        segments: JSON.parse(row.segments) as TranscriptPart['segments'],
      });
      await yieldToEventLoop();
    }
    return parts;
  }

  markStarted(videoId: string, transaction: Transaction): Promise<void> {
    return this.#set(videoId, { status: 'processing' }, transaction);
  }

  async addPart(
    videoId: string,
    { startMs, endMs, language, segments }: TranscriptPart,
    percent: number,
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries.insertInto('transcript_parts').values({
        video_id: videoId,
        start_ms: startMs,
        end_ms: endMs,
        language: language ?? null,
        segments: JSON.stringify(segments),
      }),
    );
    await this.#set(videoId, { progress_percent: percent }, transaction);
  }

  async hasOwnCaptions(videoId: string, language: string): Promise<boolean> {
    return (await this.#captions(videoId, language, this.#database))?.is_generated === 0;
  }

  async complete(
    videoId: string,
    { language, isDetected, file, bytes }: GeneratedCaptions,
    transaction: Transaction,
  ): Promise<{ readonly isStored: boolean; readonly unusedFile: string | undefined }> {
    const { queries } = transaction;
    const nowMs = this.#clock.nowMs();
    // Locks the video: other changes of it wait until the transaction ends.
    const video = await transaction.first(
      queries
        .updateTable('videos')
        .set({ updated_at_ms: nowMs })
        .where('id', '=', videoId)
        .returning(['project_id', 'language']),
    );
    if (video === undefined) return { isStored: true, unusedFile: file };
    const replaced = await this.#captions(videoId, language, transaction);
    if (replaced?.is_generated === 0) return { isStored: false, unusedFile: file };
    const track = { file, bytes, is_generated: 1 };
    await transaction.run(
      queries
        .insertInto('text_tracks')
        .values({ video_id: videoId, kind: 'captions', language, is_default: 0, ...track })
        .onConflict(conflict => conflict.columns(['video_id', 'kind', 'language']).doUpdateSet(track)),
    );
    if (isDetected && video.language === null && languages.includes(language)) {
      await transaction.run(
        queries.updateTable('videos').set({ language, is_language_detected: 1 }).where('id', '=', videoId),
      );
    }
    await this.#removeParts(videoId, transaction);
    const done = { status: 'completed', progress_percent: 100, language, failure: null } as const;
    await this.#set(videoId, done, transaction);
    const payload = { captionId: newId('caption_'), generationMode: 'transcript', language };
    await this.#append(captionsGenerated, videoId, video.project_id, payload, transaction);
    return { isStored: true, unusedFile: replaced?.file };
  }

  async fail(videoId: string, reason: string, transaction: Transaction): Promise<void> {
    await this.#removeParts(videoId, transaction);
    await this.#set(videoId, { status: 'failed', failure: reason }, transaction);
  }

  async captionsFile(videoId: string, connection: Connection = this.#database): Promise<string | undefined> {
    const { queries } = connection;
    const tracks = await connection.all(
      queries
        .selectFrom('text_tracks as t')
        .innerJoin('videos as v', 'v.id', 't.video_id')
        .select(['t.file', 't.language', 't.is_default', 'v.language as spoken'])
        .where('t.video_id', '=', videoId)
        .where('t.kind', '=', 'captions')
        .orderBy('t.language'),
    );
    const chosen =
      tracks.find(({ language, spoken }) => language === spoken) ??
      tracks.find(({ is_default }) => is_default === 1) ??
      tracks[0];
    return chosen?.file;
  }

  async waitingSummary(
    videoId: string,
    connection: Connection = this.#database,
  ): Promise<WaitingSummary | undefined> {
    const row = await connection.first(
      connection.queries
        .selectFrom('summaries')
        .select(['id', 'attributes'])
        .where('video_id', '=', videoId)
        .where('generation', '=', 'waiting'),
    );
    if (row === undefined) return undefined;
    const attributes = JSON.parse(row.attributes ?? '["abstract","takeaways"]');
    return { summaryId: row.id, attributes };
  }

  async completeSummary(
    videoId: string,
    { abstract, takeaways }: Parameters<TranscriptRepository['completeSummary']>[1],
    transaction: Transaction,
  ): Promise<void> {
    const row = await transaction.first(
      transaction.queries
        .updateTable('summaries')
        .set({
          source_status: 'completed',
          generation: null,
          abstract: abstract ?? null,
          takeaways: takeaways === undefined ? null : JSON.stringify(takeaways),
          updated_at_ms: this.#clock.nowMs(),
        })
        .where('video_id', '=', videoId)
        .where('generation', '=', 'waiting')
        .returning(['id', 'project_id']),
    );
    if (row === undefined) return;
    await this.#append(summaryGenerated, videoId, row.project_id, { summaryId: row.id }, transaction);
  }

  async failSummary(
    videoId: string,
    { status, reason }: SummaryFailure,
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('summaries')
        .set({ generation: status, failure: reason, updated_at_ms: this.#clock.nowMs() })
        .where('video_id', '=', videoId)
        .where('generation', '=', 'waiting'),
    );
  }

  #captions(videoId: string, language: string, connection: Connection) {
    return connection.first(
      connection.queries
        .selectFrom('text_tracks')
        .select(['file', 'is_generated'])
        .where('video_id', '=', videoId)
        .where('kind', '=', 'captions')
        .where('language', '=', language),
    );
  }

  async #set(
    videoId: string,
    changes: Partial<Pick<Row<'transcripts'>, 'status' | 'language' | 'failure'>> & {
      progress_percent?: number;
    },
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries.updateTable('transcripts').set(changes).where('video_id', '=', videoId),
    );
  }

  async #removeParts(videoId: string, transaction: Transaction): Promise<void> {
    await transaction.run(transaction.queries.deleteFrom('transcript_parts').where('video_id', '=', videoId));
  }

  async #append(
    type: EventType,
    videoId: string,
    projectId: string,
    payload: Readonly<Record<string, unknown>>,
    transaction: Transaction,
  ): Promise<void> {
    await this.#outbox.append(
      { projectId, type, subjectId: videoId, payload: { videoId, ...payload } },
      this.#clock.nowMs(),
      transaction,
    );
  }
}
