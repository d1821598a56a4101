import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { VideoSourceRow } from '../../store/media-tables.ts';
import type { ContentRange, RangedUpload } from './content-range.ts';

export interface VideoSource {
  readonly videoId: string;
  readonly origin: VideoSourceRow['origin'];
  readonly uploadMethod: VideoSourceRow['form'];
  readonly status: VideoSourceRow['status'];
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
  /** Its client may see what only the owner sees otherwise. */
  readonly hasCreatedVideo: boolean;
}

interface NewVideoSource {
  readonly videoId: string;
  readonly origin: VideoSourceRow['origin'];
  readonly uploadMethod?: VideoSourceRow['form'];
  readonly status: VideoSourceRow['status'];
  readonly address?: string;
  readonly startedBy?: UploadStart | undefined;
  readonly total?: number | undefined;
  readonly startedAtMs: number;
  readonly isJoined?: boolean;
}

/** Fails a source for good and appends an event. Returns false when the source is complete. */
export type FailSource = (videoId: string, reason: string) => boolean;

interface StoredChunk {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  /** SHA-256. */
  readonly digest: Buffer;
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
    this.#source = database.prepare<{ videoId: string }, Selectable<VideoSourceRow>>(({ videoId }) =>
      queries.selectFrom('video_sources').selectAll().where('video_id', '=', videoId),
    );
    this.#lastChunkUpTo = database.prepare<{ videoId: string; last: number }, StoredChunk>(
      ({ videoId, last }) =>
        queries
          .selectFrom('upload_chunks')
          .select(['first', 'last', 'bytes', 'digest'])
          .where('video_id', '=', videoId)
          .where('first', '<=', last)
          .orderBy('first', 'desc')
          .limit(1),
    );
    this.#received = database.prepare<{ videoId: string }, { chunks: number; bytes: number }>(({ videoId }) =>
      queries
        .selectFrom('upload_chunks')
        .select(({ fn, val }) => [
          fn.countAll<number>().as('chunks'),
          fn.coalesce(fn.sum<number>('bytes'), val(0)).as('bytes'),
        ])
        .where('video_id', '=', videoId),
    );
  }

  source(videoId: string): VideoSource | undefined {
    const row = this.#source.first({ videoId });
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

  rangedUpload(source: VideoSource, range: ContentRange): RangedUpload {
    const overlapping = this.overlapping(source.videoId, range);
    return {
      unit: source.uploadMethod === 'parts' ? 'parts' : 'bytes',
      total: source.total,
      isComplete: source.status !== 'uploading',
      highest:
        this.#lastChunkUpTo.first({ videoId: source.videoId, last: Number.MAX_SAFE_INTEGER })?.last ?? -1,
      overlapping,
    };
  }

  /** The last chunk that overlaps a range. Stored chunks never overlap each other. */
  overlapping(videoId: string, range: ContentRange): StoredChunk | undefined {
    const chunk = this.#lastChunkUpTo.first({ videoId, last: range.last });
    return chunk !== undefined && chunk.last >= range.first ? chunk : undefined;
  }

  received(videoId: string): { chunks: number; bytes: number } {
    return this.#received.first({ videoId }) ?? { chunks: 0, bytes: 0 };
  }

  chunks(videoId: string): StoredChunk[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('upload_chunks')
        .select(['first', 'last', 'bytes', 'digest'])
        .where('video_id', '=', videoId)
        .orderBy('first'),
    );
  }

  findOpenUploads(
    { token, client, fileName }: Omit<UploadStart, 'hasCreatedVideo'>,
    unit: ContentRange['unit'],
    projectId: string,
  ): string[] {
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('video_sources as source')
        .innerJoin('videos as video', 'video.id', 'source.video_id')
        .select('source.video_id')
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
    return rows.map(row => row.video_id);
  }

  begin(source: NewVideoSource): void {
    const row: Insertable<VideoSourceRow> = {
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
    this.#database.transaction(() => {
      this.#removeChunks(source.videoId);
      this.#database.run(
        this.#database.queries.deleteFrom('video_sources').where('video_id', '=', source.videoId),
      );
      this.#database.run(this.#database.queries.insertInto('video_sources').values(row));
    });
  }

  addChunk(videoId: string, chunk: StoredChunk): void {
    const { first, last, bytes, digest } = chunk;
    this.#database.run(
      this.#database.queries
        .insertInto('upload_chunks')
        .values({ video_id: videoId, first, last, bytes, digest }),
    );
  }

  setTotal(videoId: string, total: number): void {
    this.#change(videoId, { total });
  }

  setAssembling(videoId: string): void {
    this.#change(videoId, { status: 'assembling' });
  }

  /** Returns false when the video is deleted. */
  complete(
    videoId: string,
    status: 'uploaded' | 'ingested',
    bytes: number,
    atMs: number,
    { isJoined = false } = {},
  ): boolean {
    const joined = isJoined ? { is_joined: 1 } : {};
    return this.#change(videoId, { status, bytes, failure: null, completed_at_ms: atMs, ...joined });
  }

  /** Also removes its chunks. Returns false when the source is complete or deleted. */
  fail(videoId: string, failure: string, atMs: number): boolean {
    return this.#database.transaction(() => {
      const source = this.source(videoId);
      if (source === undefined || isComplete(source)) return false;
      this.#removeChunks(videoId);
      return this.#change(videoId, { status: 'failed', failure, completed_at_ms: atMs });
    });
  }

  failureOf(videoId: string): string | undefined {
    return this.#source.first({ videoId })?.failure ?? undefined;
  }

  /** Without complete sets of chunks: joining them may have waited for a server that was off. */
  findIncompleteBefore(atMs: number): string[] {
    const rows = this.#database.all(
      this.#database.queries
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
                .where('kind', 'in', ['assemble', 'clone', 'join'])
                .where('state', '!=', 'failed'),
            ),
          ),
        )
        .orderBy('started_at_ms')
        .limit(maxIncomplete),
    );
    return rows.map(row => row.video_id);
  }

  projectOf(videoId: string): string | undefined {
    const { queries } = this.#database;
    return this.#database.first(queries.selectFrom('videos').select('project_id').where('id', '=', videoId))
      ?.project_id;
  }

  ingestOf(videoId: string): IngestState | undefined {
    const row = this.#source.first({ videoId });
    if (row === undefined) return undefined;
    const chunks = row.form === 'bytes' || row.form === 'parts' ? this.chunks(videoId) : [];
    // The upload is done for the caller: all chunks were answered with 201.
    const bytes = row.status === 'assembling' ? this.received(videoId).bytes : row.bytes;
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

  #change(videoId: string, values: Updateable<VideoSourceRow>): boolean {
    const query = this.#database.queries
      .updateTable('video_sources')
      .set(values)
      .where('video_id', '=', videoId);
    return this.#database.run(query) === 1;
  }

  #removeChunks(videoId: string): void {
    this.#database.run(this.#database.queries.deleteFrom('upload_chunks').where('video_id', '=', videoId));
  }
}

export function isComplete({ status }: Pick<VideoSource, 'status'>): boolean {
  return status === 'uploaded' || status === 'ingested';
}
