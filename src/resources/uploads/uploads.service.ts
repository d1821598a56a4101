import { fileError } from '../../http/bodies/file-body.ts';
import type { UploadCaller } from '../../http/routing/caller.ts';
import type { FileAdmission, UploadedFile } from '../../http/routing/route.ts';
import type { JobQueue } from '../../jobs/job.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError, systemCodeOf } from '../../shared/errors.ts';
import { toDiskError } from '../../shared/files/disk-error.ts';
import type { Logger } from '../../shared/logger.ts';
import { syncFile, syncFolderOf } from '../../storage/media-files.ts';
import type { Database } from '../../store/database.ts';
import { assembleJobKind } from './chunk-assembler.ts';
import {
  type ContentRange,
  checkChunkSize,
  checkRange,
  chunkAlreadySent,
  isFirstChunk,
  isWholeFile,
  maxChunkBytes,
  maxSourceBytes,
  parseContentRange,
  rangeBytes,
  sourceTooLarge,
} from './content-range.ts';
import type { SourceFiles } from './source-files.ts';
import type { Reservation, UploadQuotas } from './upload-quotas.ts';
import type { UploadVideos } from './upload-videos.ts';
import {
  type FailSource,
  type IngestState,
  isComplete,
  type UploadStart,
  type VideoSource,
  type VideoSourcesStore,
} from './video-sources.store.ts';

export interface UploadHeaders {
  readonly contentRange: string | undefined;
  /** Undefined for a body in chunked transfer encoding. */
  readonly contentLength: number | undefined;
}

export interface TokenUploader extends UploadCaller {
  /** A hash of the client's address and user agent. */
  readonly client: string;
}

/** Limit from the first chunk to the last. */
const maxUploadMs = 168 * 3_600_000;
const maxTitleChars = 1_024;

export class UploadsService<View> {
  readonly #store: VideoSourcesStore;
  readonly #database: Database;
  readonly #files: SourceFiles;
  readonly #videos: UploadVideos<View>;
  readonly #jobs: JobQueue;
  readonly #quotas: UploadQuotas;
  readonly #sourceReady: (videoId: string) => void;
  readonly #failSource: FailSource;
  readonly #hasEncodingFailed: (videoId: string) => boolean;
  readonly #sourceReplaced: (videoId: string) => void;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #receiving = new Map<string, number>();

  constructor(options: {
    store: VideoSourcesStore;
    database: Database;
    files: SourceFiles;
    videos: UploadVideos<View>;
    jobs: JobQueue;
    quotas: UploadQuotas;
    sourceReady: (videoId: string) => void;
    failSource: FailSource;
    hasEncodingFailed: (videoId: string) => boolean;
    sourceReplaced: (videoId: string) => void;
    clock: Clock;
    log: Logger;
  }) {
    this.#store = options.store;
    this.#database = options.database;
    this.#files = options.files;
    this.#videos = options.videos;
    this.#jobs = options.jobs;
    this.#quotas = options.quotas;
    this.#sourceReady = options.sourceReady;
    this.#failSource = options.failSource;
    this.#hasEncodingFailed = options.hasEncodingFailed;
    this.#sourceReplaced = options.sourceReplaced;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Checks the headers of an upload before its body arrives. */
  admit(projectId: string, videoId: string, headers: UploadHeaders): FileAdmission {
    const range = parseContentRange(headers.contentRange);
    const source = this.#sourceOf(videoId);
    this.#checkSource(source, range);
    if (range !== undefined) this.#checkAnnouncedBytes(videoId, range, headers.contentLength);
    // The first chunk reserved the announced length, so chunks in transit are counted already.
    const isReceiving = this.isReceiving(videoId);
    const receivedBytes = source === undefined ? 0 : this.#store.received(videoId).bytes;
    const reservation = this.#quotas.reserve(projectId, {
      isNew: source === undefined && !isReceiving,
      bodyBytes: headers.contentLength ?? 0,
      announcedBytes: isReceiving ? 0 : remainingBytes(range, receivedBytes),
    });
    const endReceiving = this.#beginReceiving(videoId);
    return {
      ...admissionWithin(range, reservation),
      onFinished: () => {
        reservation.release();
        endReceiving();
      },
    };
  }

  /** Works like {@link admit}, before the request has named a video. */
  admitDelegated(caller: UploadCaller, headers: UploadHeaders): FileAdmission {
    const range = parseContentRange(headers.contentRange);
    const isBegun = range !== undefined && !isFirstChunk(range);
    const reservation = this.#quotas.reserve(caller.projectId, {
      isNew: !isBegun,
      bodyBytes: headers.contentLength ?? 0,
      announcedBytes: isBegun ? 0 : remainingBytes(range, 0),
    });
    let over: (() => void) | undefined;
    return {
      ...admissionWithin(range, reservation),
      onFileBegin: fields => {
        const videoId = fields.get('videoId') ?? '';
        if (videoId === '') return;
        this.#requireVideo(caller.projectId, videoId);
        const source = this.#sourceOf(videoId);
        this.#checkSource(source, range);
        checkToken(source, caller.token);
        over ??= this.#beginReceiving(videoId);
      },
      onFinished: () => {
        reservation.release();
        over?.();
      },
    };
  }

  /** A file has no row before it is complete. */
  isReceiving(videoId: string): boolean {
    return this.#receiving.has(videoId);
  }

  async receive(
    projectId: string,
    videoId: string,
    file: UploadedFile,
    headers: UploadHeaders,
  ): Promise<View> {
    const range = parseContentRange(headers.contentRange);
    await this.#syncToDisk(file);
    await this.#cancelFailedJobs(videoId);
    const path = this.#database.transaction(() => {
      this.#requireVideo(projectId, videoId);
      return this.#storeFile(videoId, file, range, { hasBegunBefore: true });
    });
    await this.#syncFolder(path);
    return this.#videos.viewOf(projectId, videoId);
  }

  /**
   * Only the client whose upload created a private video gets a response that opens it: tokens can be shared.
   */
  async receiveDelegated(uploader: TokenUploader, file: UploadedFile, headers: UploadHeaders): Promise<View> {
    const range = parseContentRange(headers.contentRange);
    await this.#syncToDisk(file);
    const named = file.fields.get('videoId') ?? '';
    if (named !== '') {
      this.#requireVideo(uploader.projectId, named);
      await this.#cancelFailedJobs(named);
    }
    const { path, videoId } = this.#database.transaction(() => {
      const found = this.#findTargetVideo(uploader, file, range);
      const isNew = found === undefined || this.#sourceOf(found) === undefined;
      // A first chunk was counted before its body; a later chunk may turn out to begin an upload too.
      if (isNew && range !== undefined && !isFirstChunk(range))
        this.#quotas.requireUpload(uploader.projectId);
      const videoId = found ?? this.#createVideo(uploader, file);
      const { token, client } = uploader;
      const start = { token, client, fileName: storableFileName(file), hasCreatedVideo: found === undefined };
      return { path: this.#storeFile(videoId, file, range, { start }), videoId };
    });
    await this.#syncFolder(path);
    const start = this.#store.source(videoId)?.startedBy;
    const isCreator =
      start?.hasCreatedVideo === true && start.token === uploader.token && start.client === uploader.client;
    return this.#videos.viewOf(uploader.projectId, videoId, { hidesPrivate: !isCreator });
  }

  ingestOf(videoId: string): IngestState | undefined {
    return this.#store.ingestOf(videoId);
  }

  failureOf(videoId: string): string | undefined {
    return this.#store.failureOf(videoId);
  }

  /** Fails at most a thousand uploads per call and returns their number. */
  async failExpired(nowMs: number): Promise<number> {
    const expired = this.#store.findIncompleteBefore(nowMs - maxUploadMs);
    for (const videoId of expired) {
      if (!this.#failSource(videoId, 'The source was not complete after 168 hours.')) continue;
      // Immediately: the upload may begin again with other chunks.
      const removed = this.#files.removeChunks(videoId);
      await Promise.all([removed, this.#jobs.cancel(videoId)]);
      await this.#files.removePartial(videoId);
      this.#log.info('upload-expired', { videoId });
    }
    return expired.length;
  }

  #requireVideo(projectId: string, videoId: string): void {
    if (this.#videos.find(projectId, videoId) !== undefined) return;
    throw new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
  }

  #sourceOf(videoId: string): VideoSource | undefined {
    return this.#hasFailed(videoId) ? undefined : this.#store.source(videoId);
  }

  #hasFailed(videoId: string): boolean {
    const source = this.#store.source(videoId);
    if (source === undefined) return false;
    return source.status === 'failed' || (isComplete(source) && this.#hasEncodingFailed(videoId));
  }

  async #cancelFailedJobs(videoId: string): Promise<void> {
    if (this.#hasFailed(videoId)) await this.#jobs.cancel(videoId);
  }

  #checkSource(
    source: VideoSource | undefined,
    range: ContentRange | undefined,
    hasBegunBefore = false,
  ): 'new' | 'repeat' {
    if (source === undefined) return 'new';
    if (source.origin === 'url') throw fileError('video-source-already-downloaded');
    if (source.origin === 'clone') throw fileError('video-source-already-copied');
    if (source.origin === 'recording' || source.uploadMethod === 'plain')
      throw fileError('video-source-already-uploaded');
    if (range !== undefined) {
      return checkRange(range, this.#store.rangedUpload(source, range), hasBegunBefore);
    }
    throw fileError(
      source.status === 'uploading'
        ? 'video-content-range-already-initiated'
        : 'video-source-already-uploaded',
    );
  }

  #beginReceiving(videoId: string): () => void {
    this.#receiving.set(videoId, (this.#receiving.get(videoId) ?? 0) + 1);
    return () => {
      const left = (this.#receiving.get(videoId) ?? 1) - 1;
      if (left === 0) this.#receiving.delete(videoId);
      else this.#receiving.set(videoId, left);
    };
  }

  #checkAnnouncedBytes(videoId: string, range: ContentRange, contentLength: number | undefined): void {
    const total = range.total ?? this.#sourceOf(videoId)?.total;
    const length = rangeBytes(range);
    if (length !== undefined) checkChunkSize(range, total, length);
    if (contentLength === undefined) return;
    // The multipart body is longer than its file.
    if (length === undefined) checkChunkSize(range, total, Math.min(contentLength, maxChunkBytes));
    else if (contentLength < length) checkChunkSize(range, total, contentLength);
  }

  async #syncToDisk(file: UploadedFile): Promise<void> {
    if (file.bytes === 0) throw fileError('uploaded-file-empty');
    try {
      await syncFile(file.path);
    } catch (error) {
      throw toDiskError(error);
    }
  }

  #findTargetVideo(
    uploader: TokenUploader,
    file: UploadedFile,
    range: ContentRange | undefined,
  ): string | undefined {
    const named = file.fields.get('videoId') ?? '';
    if (named !== '') {
      this.#requireVideo(uploader.projectId, named);
      return named;
    }
    return range === undefined ? undefined : this.#findContinuedUpload(uploader, file, range);
  }

  #createVideo(caller: UploadCaller, file: UploadedFile): string {
    const title = storableFileName(file).slice(0, maxTitleChars).toWellFormed().trim();
    return this.#videos.create(caller.projectId, { title: title === '' ? 'Untitled' : title }).videoId;
  }

  /**
   * The newest one of the same file, client and token that lacks this chunk or has the very same. A first
   * chunk that is stored already begins another upload.
   */
  #findContinuedUpload(uploader: TokenUploader, file: UploadedFile, range: ContentRange): string | undefined {
    const start = { token: uploader.token, client: uploader.client, fileName: storableFileName(file) };
    return this.#store.findOpenUploads(start, range.unit, uploader.projectId).find(videoId => {
      const source = this.#store.source(videoId);
      if (source === undefined) return false;
      if (range.total !== undefined && source.total !== undefined && range.total !== source.total)
        return false;
      const chunk = this.#store.overlapping(videoId, range);
      if (chunk === undefined) return true;
      if (isFirstChunk(range)) return false;
      return chunk.first === range.first && chunk.last === range.last && isSameFile(chunk.digest, file);
    });
  }

  /**
   * Checks again, now that the file has arrived, and adds it to the upload. Synchronous and in the caller's
   * transaction, so that requests do not interleave.
   * @param request `hasBegunBefore`: it was admitted when its upload was not complete
   * @returns undefined when the same bytes were stored before
   */
  #storeFile(
    videoId: string,
    file: UploadedFile,
    range: ContentRange | undefined,
    request: { readonly start?: UploadStart; readonly hasBegunBefore?: boolean },
  ): string | undefined {
    const source = this.#sourceOf(videoId);
    const verdict = this.#checkSource(source, range, request.hasBegunBefore);
    if (request.start !== undefined) checkToken(source, request.start.token);
    if (range !== undefined) checkChunkSize(range, range.total ?? source?.total, file.bytes);
    if (verdict === 'repeat' && range !== undefined && source !== undefined) {
      this.#acceptRepeat(source, file, range);
      return undefined;
    }
    if (source === undefined) {
      if (this.#hasFailed(videoId)) this.#sourceReplaced(videoId);
      this.#store.begin({
        videoId,
        origin: 'upload',
        uploadMethod: range?.unit ?? 'plain',
        status: 'uploading',
        startedBy: request.start,
        total: range?.total,
        startedAtMs: this.#clock.nowMs(),
      });
    }
    const isWhole = range === undefined || isWholeFile(range);
    const path = isWhole ? this.#files.source(videoId) : this.#files.chunk(videoId, range.first);
    if (range !== undefined) this.#addChunk(videoId, file, range);
    if (isWhole) {
      this.#store.complete(videoId, 'uploaded', file.bytes, this.#clock.nowMs());
      this.#sourceReady(videoId);
    } else {
      this.#assembleIfComplete(videoId);
    }
    // Last, because the statements above can be rolled back and a move cannot.
    this.#files.move(file.path, path);
    return path;
  }

  #addChunk(videoId: string, file: UploadedFile, range: ContentRange): void {
    const { first, last, total } = range;
    if (this.#store.received(videoId).bytes + file.bytes > maxSourceBytes) throw sourceTooLarge();
    if (file.digest === undefined) throw new AppError('server-error', 'a chunk came without its digest');
    this.#store.addChunk(videoId, { first, last, bytes: file.bytes, digest: file.digest });
    if (total !== undefined) this.#store.setTotal(videoId, total);
  }

  #acceptRepeat(source: VideoSource, file: UploadedFile, range: ContentRange): void {
    const chunk = this.#store.overlapping(source.videoId, range);
    if (chunk === undefined || !isSameFile(chunk.digest, file)) {
      throw source.status === 'uploading'
        ? chunkAlreadySent(range)
        : fileError('video-source-already-uploaded');
    }
    if (range.total === undefined || source.status !== 'uploading') return;
    this.#store.setTotal(source.videoId, range.total);
    this.#assembleIfComplete(source.videoId);
  }

  #assembleIfComplete(videoId: string): void {
    const source = this.#store.source(videoId);
    if (source?.total === undefined) return;
    const { chunks, bytes } = this.#store.received(videoId);
    if ((source.uploadMethod === 'bytes' ? bytes : chunks) < source.total) return;
    this.#store.setAssembling(videoId);
    this.#jobs.add({ kind: assembleJobKind, subjectId: videoId });
  }

  /** The file may have been joined or removed meanwhile. */
  async #syncFolder(path: string | undefined): Promise<void> {
    if (path === undefined) return;
    try {
      await syncFolderOf(path);
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw toDiskError(error);
    }
  }
}

function checkToken(source: VideoSource | undefined, token: string): void {
  if (source === undefined || source.startedBy?.token === token) return;
  if (source.status !== 'uploading') throw fileError('video-source-already-uploaded');
  throw fileError(
    'video-content-range-already-initiated',
    'This upload was begun with another token or with an API key. Continue it with the same one.',
  );
}

function isSameFile(digest: Buffer, file: UploadedFile): boolean {
  return file.digest?.equals(digest) ?? false;
}

function remainingBytes(range: ContentRange | undefined, receivedBytes: number): number {
  if (range?.unit !== 'bytes' || range.total === undefined) return 0;
  return Math.max(0, range.total - receivedBytes);
}

function admissionWithin(
  range: ContentRange | undefined,
  { maxBytes, limitError }: Reservation,
): FileAdmission {
  const admission = admissionOf(range);
  if (maxBytes === undefined || maxBytes >= admission.maxBytes) return admission;
  return { ...admission, maxBytes, tooLargeError: limitError() };
}

function admissionOf(range: ContentRange | undefined): FileAdmission {
  if (range === undefined) return { maxBytes: maxSourceBytes, tooLargeError: sourceTooLarge() };
  const length = rangeBytes(range);
  if (length === undefined) return { maxBytes: maxChunkBytes, needsDigest: true };
  return {
    maxBytes: length,
    needsDigest: true,
    tooLargeError: fileError('video-content-range-by-bytes-range-mismatch'),
  };
}

/** Removes NULs, at which SQLite would end the text. */
function storableFileName(file: UploadedFile): string {
  return file.fileName.replaceAll('\u0000', '');
}
