import { type Insertable, sql, type Updateable } from 'kysely';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { prepareQuery } from '../../../store/prepared-query.ts';
import type { Row, Tables } from '../../../store/tables.ts';
import type { ClipRange } from './clip-range.ts';
import type { ContentRange, RangedUpload } from './content-range.ts';

export interface VideoSource {
  readonly videoId: string;
  readonly origin: Row<'video_sources'>['origin'];
  readonly uploadMethod: Row<'video_sources'>['form'];
  readonly status: Row<'video_sources'>['status'];
  /** The URL, or the id of the cloned video. */
  readonly address: string | undefined;
  /** Announced bytes or parts. */
  readonly total: number | undefined;
  readonly startedAtMs: number;
  /** True for a source that was joined from several files, and for its copies. */
  readonly isJoined: boolean;
  readonly startedBy: UploadStart | undefined;
}

export interface UploadStart {
  readonly token: string;
  /** A hash of the client's address and user agent. */
  readonly client: string;
  readonly fileName: string;
  /** True when the client has created the video, so that it may see what otherwise only the owner sees. */
  readonly hasCreatedVideo: boolean;
}

interface NewVideoSource {
  readonly videoId: string;
  readonly origin: Row<'video_sources'>['origin'];
  readonly uploadMethod?: Row<'video_sources'>['form'];
  readonly status: Row<'video_sources'>['status'];
  readonly address?: string;
  readonly startedBy?: UploadStart | undefined;
  readonly total?: number | undefined;
  readonly startedAtMs: number;
  readonly isJoined?: boolean;
}

/** Fails a source for good and appends an event. Returns false when the source is complete. */
export type FailSource = (videoId: string, reason: string, connection?: Connection) => Promise<boolean>;

interface SourceCompletion {
  readonly status: 'uploaded' | 'ingested';
  readonly bytes: number;
  readonly atMs: number;
  /** Undefined leaves it as it is. */
  readonly isJoined?: true;
}

export interface StoredChunk {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  /** SHA-256. Empty for a whole file that came without a range. */
  readonly digest: Buffer;
  /** File name in object storage; null in the data folder. */
  readonly file: string | null;
}

export interface IngestState {
  readonly status: 'uploading' | 'uploaded' | 'ingesting' | 'ingested' | 'failed';
  readonly filesize: number | null;
  readonly receivedBytes: { from: number; to: number; total: number }[];
  readonly receivedParts?: { parts: number[]; total: number | null };
}

const maxIncomplete = 1_000;
const maxOpenUploads = 100;

// Literals, because SQLite uses the partial indexes of these states only then.
const isUploading = sql<boolean>`source.status = 'uploading'`;
const isIncomplete = sql<boolean>`source.status IN ('uploading', 'assembling', 'ingesting')`;

export class VideoSourcesStore {
  readonly #database: Database;
  readonly #source;
  readonly #lastChunkUpTo;
  readonly #received;

  constructor(database: Database) {
    const { queries } = database;
    this.#database = database;
    this.#source = prepareQuery<{ videoId: string }, Row<'video_sources'>>(({ videoId }) =>
      queries.selectFrom('video_sources').selectAll().where('video_id', '=', videoId),
    );
    this.#lastChunkUpTo = prepareQuery<{ videoId: string; last: number }, StoredChunk>(({ videoId, last }) =>
      queries
        .selectFrom('upload_chunks')
        .select(['first', 'last', 'bytes', 'digest', 'file'])
        .where('video_id', '=', videoId)
        .where('first', '<=', last)
        .orderBy('first', 'desc')
        .limit(1),
    );
    this.#received = prepareQuery<{ videoId: string }, { chunks: number; bytes: number }>(({ videoId }) =>
      queries
        .selectFrom('upload_chunks')
        .select(({ cast, fn, val }) => [
          fn.countAll<number>().as('chunks'),
          cast<number>(fn.coalesce(fn.sum('bytes'), val(0)), 'bigint').as('bytes'),
        ])
        .where('video_id', '=', videoId),
    );
  }

  async source(videoId: string, connection: Connection = this.#database): Promise<VideoSource | undefined> {
    const row = await connection.first(this.#source({ videoId }));
    if (row === undefined) return undefined;
    return {
      videoId: row.video_id,
      origin: row.origin,
      uploadMethod: row.form,
      status: row.status,
      address: row.address ?? undefined,
      total: row.total ?? undefined,
      startedAtMs: row.started_at_ms,
      isJoined: row.is_joined === 1,
      startedBy:
        row.upload_token === null
          ? undefined
          : {
              token: row.upload_token,
              client: row.upload_client ?? '',
              fileName: row.upload_file_name ?? '',
              hasCreatedVideo: row.has_created_video === 1,
            },
    };
  }

  async rangedUpload(
    source: VideoSource,
    range: ContentRange,
    connection: Connection = this.#database,
  ): Promise<RangedUpload> {
    const { videoId } = source;
    const overlapping = await this.overlapping(videoId, range, connection);
    const highest = await connection.first(this.#lastChunkUpTo({ videoId, last: Number.MAX_SAFE_INTEGER }));
    return {
      unit: source.uploadMethod === 'parts' ? 'parts' : 'bytes',
      total: source.total,
      isComplete: source.status !== 'uploading',
      highest: highest?.last ?? -1,
      overlapping,
    };
  }

  /** Finds the last chunk that overlaps a range. Stored chunks never overlap each other. */
  async overlapping(
    videoId: string,
    range: ContentRange,
    connection: Connection = this.#database,
  ): Promise<StoredChunk | undefined> {
    const chunk = await connection.first(this.#lastChunkUpTo({ videoId, last: range.last }));
    return chunk !== undefined && chunk.last >= range.first ? chunk : undefined;
  }

  async received(
    videoId: string,
    connection: Connection = this.#database,
  ): Promise<{ chunks: number; bytes: number }> {
    return (await connection.first(this.#received({ videoId }))) ?? { chunks: 0, bytes: 0 };
  }

  chunks(videoId: string, connection: Connection = this.#database): Promise<StoredChunk[]> {
    return connection.all(
      this.#database.queries
        .selectFrom('upload_chunks')
        .select(['first', 'last', 'bytes', 'digest', 'file'])
        .where('video_id', '=', videoId)
        .orderBy('first'),
    );
  }

  async findOpenUploads(
    { token, client, fileName }: Omit<UploadStart, 'hasCreatedVideo'>,
    unit: ContentRange['unit'],
    projectId: string,
    connection: Connection = this.#database,
  ): Promise<{ readonly videoId: string; readonly total: number | undefined }[]> {
    const rows = await connection.all(
      connection.queries
        .selectFrom('video_sources as source')
        .innerJoin('videos as video', 'video.id', 'source.video_id')
        .select(['source.video_id', 'source.total'])
        .where('source.upload_token', '=', token)
        .where(isUploading)
        .where('source.form', '=', unit)
        .where('source.upload_client', '=', client)
        .where('source.upload_file_name', '=', fileName)
        .where('video.project_id', '=', projectId)
        .where('video.discarded_at_ms', 'is', null)
        .orderBy('source.started_at_ms', 'desc')
        .orderBy('source.video_id', 'desc')
        .limit(maxOpenUploads),
    );
    return rows.map(({ video_id, total }) => ({ videoId: video_id, total: total ?? undefined }));
  }

  async begin(source: NewVideoSource, transaction: Transaction): Promise<void> {
    const row: Insertable<Tables['video_sources']> = {
      video_id: source.videoId,
      origin: source.origin,
      form: source.uploadMethod ?? null,
      status: source.status,
      address: source.address ?? null,
      upload_token: source.startedBy?.token ?? null,
      total: source.total ?? null,
      bytes: null,
      failure: null,
      started_at_ms: source.startedAtMs,
      completed_at_ms: null,
      is_joined: source.isJoined === true ? 1 : 0,
      upload_client: source.startedBy?.client ?? null,
      upload_file_name: source.startedBy?.fileName ?? null,
      has_created_video: source.startedBy?.hasCreatedVideo === true ? 1 : 0,
    };
    const { queries } = transaction;
    await this.#removeChunks(source.videoId, transaction);
    await transaction.run(queries.deleteFrom('video_sources').where('video_id', '=', source.videoId));
    await transaction.run(queries.insertInto('video_sources').values(row));
  }

  async addChunk(videoId: string, chunk: StoredChunk, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries.insertInto('upload_chunks').values({ video_id: videoId, ...chunk }),
    );
  }

  setTotal(videoId: string, total: number, transaction: Transaction): Promise<void> {
    return this.#change(videoId, { total }, transaction);
  }

  setAssembling(videoId: string, transaction: Transaction): Promise<void> {
    return this.#change(videoId, { status: 'assembling' }, transaction);
  }

  /** Returns false when the video was deleted, or the source has failed or is complete. */
  async complete(
    videoId: string,
    { status, bytes, atMs, isJoined }: SourceCompletion,
    transaction: Transaction,
  ): Promise<boolean> {
    const joined = isJoined ? { is_joined: 1 } : {};
    const changed = await transaction.run(
      transaction.queries
        .updateTable('video_sources')
        .set({ status, bytes, failure: null, completed_at_ms: atMs, ...joined })
        .where('video_id', '=', videoId)
        .where('status', 'in', ['uploading', 'assembling', 'ingesting']),
    );
    return changed === 1;
  }

  /** The part of another video that is to be copied. Undefined for other sources. */
  async clipOf(
    videoId: string,
  ): Promise<(ClipRange & { readonly precision: 'keyframe' | 'frame' }) | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('videos')
        .select(['clip_start_ms', 'clip_end_ms', 'clip_precision'])
        .where('id', '=', videoId)
        .where('clipped_from', 'is not', null),
    );
    if (row === undefined || row.clip_end_ms === null) return undefined;
    const { clip_start_ms: startMs, clip_end_ms: endMs, clip_precision: precision } = row;
    return { startMs: startMs ?? 0, endMs, precision: precision ?? 'keyframe' };
  }

  /** Sets what remains to be done with the copied part. Undefined: nothing. */
  async setClip(videoId: string, clip: ClipRange | undefined, transaction: Transaction): Promise<void> {
    const values = { clip_start_ms: clip?.startMs ?? null, clip_end_ms: clip?.endMs ?? null };
    await transaction.run(transaction.queries.updateTable('videos').set(values).where('id', '=', videoId));
  }

  /** Tells whether the files of a video can be removed. */
  async isGone(videoId: string): Promise<boolean> {
    const source = await this.source(videoId);
    return source === undefined || source.status === 'failed';
  }

  /** Keeps a complete set of chunks: the caller was told that they are stored. Returns false when the source is complete or deleted. */
  async fail(videoId: string, failure: string, atMs: number, transaction: Transaction): Promise<boolean> {
    await this.lock(videoId, transaction);
    const source = await this.source(videoId, transaction);
    if (source === undefined || isComplete(source)) return false;
    if (source.status === 'uploading') await this.#removeChunks(videoId, transaction);
    await this.#change(videoId, { status: 'failed', failure, completed_at_ms: atMs }, transaction);
    return true;
  }

  /** A failed source is tried again. */
  restart(
    videoId: string,
    { status, atMs }: { readonly status: 'assembling' | 'ingesting'; readonly atMs: number },
    transaction: Transaction,
  ): Promise<void> {
    const values = { status, started_at_ms: atMs, failure: null, completed_at_ms: null };
    return this.#change(videoId, values, transaction);
  }

  /** Call this before a transaction decides by the state of a source. */
  lock(videoId: string, transaction: Transaction): Promise<void> {
    return transaction.lock('video-source', videoId);
  }

  async failureOf(videoId: string): Promise<string | undefined> {
    const row = await this.#database.first(this.#source({ videoId }));
    return row?.failure ?? undefined;
  }

  /** Finds uploads without complete sets of chunks: joining them may have waited for a server that was off. */
  async findIncompleteBefore(atMs: number): Promise<string[]> {
    const rows = await this.#database.all(
      this.#incompleteBefore(atMs).orderBy('started_at_ms').limit(maxIncomplete),
    );
    return rows.map(row => row.video_id);
  }

  async isIncompleteBefore(videoId: string, atMs: number, transaction: Transaction): Promise<boolean> {
    const found = await transaction.first(this.#incompleteBefore(atMs).where('video_id', '=', videoId));
    return found !== undefined;
  }

  async projectOf(videoId: string, connection: Connection = this.#database): Promise<string | undefined> {
    const { queries } = this.#database;
    const row = await connection.first(
      queries.selectFrom('videos').select('project_id').where('id', '=', videoId),
    );
    return row?.project_id;
  }

  async ingestOf(videoId: string): Promise<IngestState | undefined> {
    const row = await this.#database.first(this.#source({ videoId }));
    if (row === undefined) return undefined;
    const isRanged = row.form === 'bytes' || row.form === 'parts';
    const chunks = isRanged || row.status === 'assembling' ? await this.chunks(videoId) : [];
    // The upload is done for the caller: all chunks were answered with 201.
    const bytes = row.status === 'assembling' ? sumBytes(chunks) : row.bytes;
    // Without an announced total, the received range is all that is known.
    const total = row.total ?? (chunks.at(-1)?.last ?? 0) + 1;
    return {
      status: row.status === 'assembling' ? 'uploaded' : row.status,
      filesize: bytes,
      receivedBytes:
        row.form === 'bytes' ? chunks.map(({ first, last }) => ({ from: first, to: last, total })) : [],
      ...(row.form === 'parts'
        ? { receivedParts: { parts: chunks.map(({ first }) => first), total: row.total } }
        : {}),
    };
  }

  #incompleteBefore(atMs: number) {
    return this.#database.queries
      .selectFrom('video_sources as source')
      .select('video_id')
      .where(isIncomplete)
      .where('started_at_ms', '<', atMs)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('jobs')
              .select('id')
              .whereRef('subject_id', '=', 'source.video_id')
              .where('kind', 'in', ['assemble', 'clone', 'clip', 'join'])
              .where('state', '!=', 'failed'),
          ),
        ),
      );
  }

  async #change(
    videoId: string,
    values: Updateable<Tables['video_sources']>,
    transaction: Transaction,
  ): Promise<void> {
    const { queries } = transaction;
    await transaction.run(queries.updateTable('video_sources').set(values).where('video_id', '=', videoId));
  }

  async #removeChunks(videoId: string, transaction: Transaction): Promise<void> {
    await transaction.run(transaction.queries.deleteFrom('upload_chunks').where('video_id', '=', videoId));
  }
}

export function sumBytes(chunks: readonly Pick<StoredChunk, 'bytes'>[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes, 0);
}

export function isComplete({ status }: Pick<VideoSource, 'status'>): boolean {
  return status === 'uploaded' || status === 'ingested';
}
