import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { UploadChunkRow, VideoSourceRow } from '../../store/tables.ts';
import type { ContentRange, RangedUpload } from './content-range.ts';

/** Where a source comes from, and how far it has come. */
export interface VideoSource {
  readonly videoId: string;
  readonly origin: VideoSourceRow['origin'];
  readonly form: VideoSourceRow['form'];
  readonly status: VideoSourceRow['status'];
  /** The URL, or the id of the cloned video. */
  readonly address: string | undefined;
  /** Bytes or parts that were announced. */
  readonly total: number | undefined;
  readonly startedAtMs: number;
  /** It was put together from several files, or is a copy of such a one. */
  readonly isJoined: boolean;
  /** Of an upload with a token. */
  readonly startedBy: UploadStart | undefined;
}

/** The start of an upload with a token. */
export interface UploadStart {
  readonly token: string;
  /** A hash of the client's address and user agent. */
  readonly client: string;
  readonly fileName: string;
  /** The upload created the video: its client may see what else only the owner sees. */
  readonly hasCreatedVideo: boolean;
}

/** How a source begins. */
export interface NewVideoSource {
  readonly videoId: string;
  readonly origin: VideoSourceRow['origin'];
  readonly form?: VideoSourceRow['form'];
  readonly status: VideoSourceRow['status'];
  readonly address?: string;
  readonly startedBy?: UploadStart | undefined;
  readonly total?: number | undefined;
  readonly startedAtMs: number;
  readonly isJoined?: boolean;
}

/** Makes a source fail for good, unless it is complete, and tells of it; whether it did. */
export type FailSource = (videoId: string, reason: string) => boolean;

/** A stored chunk. `digest`: SHA-256 of its bytes. */
export interface StoredChunk {
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly digest: Buffer;
}

/** What the status of a video tells of its source. */
export interface IngestState {
  readonly status: 'uploading' | 'uploaded' | 'ingesting' | 'ingested' | 'failed';
  readonly filesize: number | null;
  readonly receivedBytes: { from: number; to: number; total: number }[];
  readonly receivedParts?: { parts: number[]; total: number | null };
}

type ChunkColumns = Pick<UploadChunkRow, 'first' | 'last' | 'bytes' | 'digest'>;
type OpenUpload = { video_id: string };

/** Sources of videos and the chunks of ranged uploads. */
export class VideoSourcesStore {
  readonly #database: Database;
  readonly #source;
  readonly #lastChunkUpTo;
  readonly #highestReceived;
  readonly #received;
  readonly #openUploads;
  readonly #incompleteBefore;

  constructor(database: Database) {
    this.#database = database;
    const { sqlite } = database;
    this.#source = sqlite.prepare<[string], Selectable<VideoSourceRow>>(
      'SELECT * FROM video_sources WHERE video_id = ?',
    );
    this.#lastChunkUpTo = sqlite.prepare<[string, number], ChunkColumns>(
      `SELECT first, last, bytes, digest FROM upload_chunks
       WHERE video_id = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
    );
    this.#highestReceived = sqlite
      .prepare<[string], number>(
        'SELECT last FROM upload_chunks WHERE video_id = ? ORDER BY first DESC LIMIT 1',
      )
      .pluck();
    this.#received = sqlite.prepare<[string], { chunks: number; bytes: number }>(
      'SELECT count(*) AS chunks, coalesce(sum(bytes), 0) AS bytes FROM upload_chunks WHERE video_id = ?',
    );
    this.#openUploads = sqlite.prepare<[string, string, string, string, string], OpenUpload>(
      `SELECT s.video_id FROM video_sources s JOIN videos v ON v.id = s.video_id
       WHERE s.upload_token = ? AND s.status = 'uploading' AND s.form = ?
         AND s.upload_client = ? AND s.upload_file_name = ?
         AND v.project_id = ? AND v.discarded_at_ms IS NULL
       ORDER BY s.started_at_ms DESC, s.video_id DESC LIMIT 100`,
    );
    // The states stand in the text, because only then is the index of these states used.
    this.#incompleteBefore = sqlite
      .prepare<[number], string>(
        `SELECT video_id FROM video_sources s WHERE status IN ('uploading', 'assembling', 'ingesting')
         AND started_at_ms < ? AND NOT EXISTS (
           SELECT 1 FROM jobs WHERE subject_id = s.video_id AND kind IN ('assemble', 'clone', 'join') AND state != 'failed')
         ORDER BY started_at_ms LIMIT 1000`,
      )
      .pluck();
  }

  /** The source of a video, if one has begun. */
  source(videoId: string): VideoSource | undefined {
    const row = this.#source.get(videoId);
    if (row === undefined) return undefined;
    return {
      videoId: row.video_id,
      origin: row.origin,
      form: row.form,
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

  /** What of a ranged upload matters to one more chunk of it. */
  rangedUpload(source: VideoSource, range: ContentRange): RangedUpload {
    const overlapping = this.overlapping(source.videoId, range);
    return {
      form: source.form === 'parts' ? 'parts' : 'bytes',
      total: source.total,
      isComplete: source.status !== 'uploading',
      highest: this.#highestReceived.get(source.videoId) ?? -1,
      overlapping,
    };
  }

  /** The chunk that has anything of a range, the last of them. Chunks never overlap each other. */
  overlapping(videoId: string, range: ContentRange): StoredChunk | undefined {
    const chunk = this.#lastChunkUpTo.get(videoId, range.last);
    return chunk !== undefined && chunk.last >= range.first ? chunk : undefined;
  }

  /** How many chunks have arrived, and bytes in them. */
  received(videoId: string): { chunks: number; bytes: number } {
    return this.#received.get(videoId) ?? { chunks: 0, bytes: 0 };
  }

  /** All chunks in their order. */
  chunks(videoId: string): StoredChunk[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('upload_chunks')
        .select(['first', 'last', 'bytes', 'digest'])
        .where('video_id', '=', videoId)
        .orderBy('first'),
    );
  }

  /** Unfinished ranged uploads of a file that a client began with a token, the newest first, at most a hundred. */
  findOpenUploads(
    { token, client, fileName }: Omit<UploadStart, 'hasCreatedVideo'>,
    form: ContentRange['form'],
    projectId: string,
  ): string[] {
    return this.#openUploads.all(token, form, client, fileName, projectId).map(row => row.video_id);
  }

  /** Notes that a source begins; one that failed before is forgotten. */
  begin(source: NewVideoSource): void {
    const row: Insertable<VideoSourceRow> = {
      video_id: source.videoId,
      origin: source.origin,
      form: source.form ?? null,
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

  /** Notes a chunk that is on the disk. */
  addChunk(videoId: string, chunk: StoredChunk): void {
    const { first, last, bytes, digest } = chunk;
    this.#database.run(
      this.#database.queries
        .insertInto('upload_chunks')
        .values({ video_id: videoId, first, last, bytes, digest }),
    );
  }

  /** Notes how much was announced. */
  setTotal(videoId: string, total: number): void {
    this.#change(videoId, { total });
  }

  /** Notes that all chunks are there. */
  setAssembling(videoId: string): void {
    this.#change(videoId, { status: 'assembling' });
  }

  /** Notes that the source is in its place; false when the video is gone. */
  complete(videoId: string, status: 'uploaded' | 'ingested', bytes: number, atMs: number): boolean {
    return this.#change(videoId, { status, bytes, failure: null, completed_at_ms: atMs });
  }

  /** Notes that nothing will come of a source, unless it is complete; whether that was noted. */
  fail(videoId: string, failure: string, atMs: number): boolean {
    return this.#database.transaction(() => {
      const source = this.source(videoId);
      if (source === undefined || isComplete(source)) return false;
      this.#removeChunks(videoId);
      return this.#change(videoId, { status: 'failed', failure, completed_at_ms: atMs });
    });
  }

  /** Why nothing came of a source. */
  failureOf(videoId: string): string | undefined {
    return this.#source.get(videoId)?.failure ?? undefined;
  }

  /**
   * Sources that began before `atMs` and are not complete, at most a thousand; none of which all is here, that has only to be put together:
   * that may have waited for a server that was off.
   */
  findIncompleteBefore(atMs: number): string[] {
    return this.#incompleteBefore.all(atMs);
  }

  /** The project of a video. */
  projectOf(videoId: string): string | undefined {
    const { queries } = this.#database;
    return this.#database.first(queries.selectFrom('videos').select('project_id').where('id', '=', videoId))
      ?.project_id;
  }

  /** What the status of a video tells of its source; undefined until something has begun. */
  ingestOf(videoId: string): IngestState | undefined {
    const row = this.#source.get(videoId);
    if (row === undefined) return undefined;
    const chunks = row.form === 'bytes' || row.form === 'parts' ? this.chunks(videoId) : [];
    // All chunks have been answered with 201: joining them is our own affair.
    const bytes = row.status === 'assembling' ? this.received(videoId).bytes : row.bytes;
    // Where the header never told a total, what has arrived is all that is known of it.
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

/** Whether the whole source is in its place. */
export function isComplete({ status }: Pick<VideoSource, 'status'>): boolean {
  return status === 'uploaded' || status === 'ingested';
}
