import { fileError } from '../../../http/bodies/file-body.ts';
import type { UploadCaller } from '../../../http/routing/caller.ts';
import type { FileAdmission, UploadedFile } from '../../../http/routing/route.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import { maxTitleChars } from '../../../shared/limits/resource-limits.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { ArrivedFiles, StoredUpload } from './arrived-files.ts';
import { assembleJobKind } from './chunk-assembler.ts';
import {
  type ContentRange,
  checkChunkSize,
  checkRange,
  isFirstChunk,
  isWholeFile,
  parseContentRange,
} from './content-range.ts';
import type { SourceConsumer } from './source-consumer.ts';
import type { SourceFiles } from './source-files.ts';
import type { SourceImporter } from './source-importer.ts';
import { isSameFile, UploadChunks } from './upload-chunks.ts';
import { checkAnnouncedBytes, limitsOf, remainingBytes } from './upload-limits.ts';
import type { UploadQuotas } from './upload-quotas.ts';
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
export class UploadsService<View> {
  readonly #store: VideoSourcesStore;
  readonly #database: Database;
  readonly #files: SourceFiles;
  readonly #arrived: ArrivedFiles;
  readonly #videos: UploadVideos<View>;
  readonly #jobs: JobQueue;
  readonly #chunks: UploadChunks;
  readonly #quotas: UploadQuotas;
  readonly #expectSource: SourceConsumer['expectSource'];
  readonly #sourceReady: SourceConsumer['sourceReady'];
  readonly #failSource: FailSource;
  readonly #retryRecording: SourceConsumer['retryRecording'];
  readonly #retryEncoding: SourceConsumer['retryEncoding'];
  readonly #retryImport: SourceImporter['retry'];
  readonly #hasEncodingFailed: SourceConsumer['hasEncodingFailed'];
  readonly #sourceReplaced: SourceConsumer['sourceReplaced'];
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(options: {
    store: VideoSourcesStore;
    database: Database;
    files: SourceFiles;
    arrived: ArrivedFiles;
    videos: UploadVideos<View>;
    jobs: JobQueue;
    quotas: UploadQuotas;
    expectSource: SourceConsumer['expectSource'];
    sourceReady: SourceConsumer['sourceReady'];
    failSource: FailSource;
    retryRecording: SourceConsumer['retryRecording'];
    retryEncoding: SourceConsumer['retryEncoding'];
    retryImport: SourceImporter['retry'];
    hasEncodingFailed: SourceConsumer['hasEncodingFailed'];
    sourceReplaced: SourceConsumer['sourceReplaced'];
    clock: Clock;
    log: Logger;
  }) {
    this.#store = options.store;
    this.#database = options.database;
    this.#files = options.files;
    this.#arrived = options.arrived;
    this.#videos = options.videos;
    this.#jobs = options.jobs;
    this.#chunks = new UploadChunks(options.store, options.jobs);
    this.#quotas = options.quotas;
    this.#expectSource = options.expectSource;
    this.#sourceReady = options.sourceReady;
    this.#failSource = options.failSource;
    this.#retryRecording = options.retryRecording;
    this.#retryEncoding = options.retryEncoding;
    this.#retryImport = options.retryImport;
    this.#hasEncodingFailed = options.hasEncodingFailed;
    this.#sourceReplaced = options.sourceReplaced;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Checks the headers of an upload before its body arrives. */
  async admit(projectId: string, videoId: string, headers: UploadHeaders): Promise<FileAdmission> {
    const range = parseContentRange(headers.contentRange);
    const source = await this.#sourceOf(videoId);
    await this.#checkSource(source, range);
    if (range !== undefined) checkAnnouncedBytes(source, range, headers.contentLength);
    const receivedBytes = source === undefined ? 0 : (await this.#store.received(videoId)).bytes;
    const reservation = await this.#quotas.reserve(projectId, {
      videoId,
      isNew: source === undefined,
      bodyBytes: headers.contentLength ?? 0,
      announcedBytes: remainingBytes(range, receivedBytes),
    });
    const limits = await limitsOf(range, reservation);
    this.#expectSource();
    return { ...limits, onFinished: () => reservation.end() };
  }

  /** Works like {@link admit}, before the request has named a video. */
  async admitDelegated(caller: UploadCaller, headers: UploadHeaders): Promise<FileAdmission> {
    const range = parseContentRange(headers.contentRange);
    const isBegun = range !== undefined && !isFirstChunk(range);
    const reservation = await this.#quotas.reserve(caller.projectId, {
      videoId: undefined,
      isNew: !isBegun,
      bodyBytes: headers.contentLength ?? 0,
      announcedBytes: isBegun ? 0 : remainingBytes(range, 0),
    });
    const limits = await limitsOf(range, reservation);
    this.#expectSource();
    return {
      ...limits,
      onFileBegin: async fields => {
        const videoId = fields.get('videoId') ?? '';
        if (videoId === '') return;
        await this.#requireVideo(caller.projectId, videoId);
        const source = await this.#sourceOf(videoId);
        await this.#checkSource(source, range);
        checkToken(source, caller.token);
        await reservation.setVideo(videoId);
      },
      onFinished: () => reservation.end(),
    };
  }

  async receive(
    projectId: string,
    videoId: string,
    file: UploadedFile,
    headers: UploadHeaders,
  ): Promise<View> {
    const range = parseContentRange(headers.contentRange);
    checkNotEmpty(file);
    this.#expectSource();
    await this.#cancelFailedJobs(videoId);
    const arrival = { file, first: range?.first ?? 0, findVideo: async () => videoId };
    await this.#arrived.store(arrival, async (chunkFile, transaction) => {
      await this.#requireVideo(projectId, videoId, transaction);
      const request = { projectId, hasBegunBefore: true, chunkFile };
      return this.#storeFile(videoId, file, range, request, transaction);
    });
    return this.#videos.viewOf(projectId, videoId, { hidesPrivate: false });
  }

  /**
   * Receives an upload with a token. Only the client whose upload created a private video gets a response that
   * opens it: tokens can be shared.
   */
  async receiveDelegated(uploader: TokenUploader, file: UploadedFile, headers: UploadHeaders): Promise<View> {
    const range = parseContentRange(headers.contentRange);
    checkNotEmpty(file);
    this.#expectSource();
    const named = file.fields.get('videoId') ?? '';
    if (named !== '') {
      await this.#requireVideo(uploader.projectId, named);
      await this.#cancelFailedJobs(named);
    }
    const { token, client, projectId } = uploader;
    const fileName = storableFileName(file);
    const newVideoId = newId('vi');
    const findVideo = async () =>
      (await this.#findTargetVideo(uploader, file, range, this.#database)) ?? newVideoId;
    const arrival = { file, first: range?.first ?? 0, findVideo };
    const videoId = await this.#arrived.store(arrival, async (chunkFile, transaction) => {
      // Chunks of the same file that arrive at once create one video.
      await transaction.lock('delegated-upload', token, client, fileName);
      const found = await this.#findTargetVideo(uploader, file, range, transaction);
      if (found === undefined) await this.#createVideo(projectId, newVideoId, fileName, transaction);
      const start = { token, client, fileName, hasCreatedVideo: found === undefined };
      const request = { projectId, start, chunkFile };
      return this.#storeFile(found ?? newVideoId, file, range, request, transaction);
    });
    const start = (await this.#store.source(videoId))?.startedBy;
    const isCreator = start?.hasCreatedVideo === true && start.token === token && start.client === client;
    return this.#videos.viewOf(projectId, videoId, { hidesPrivate: !isCreator });
  }

  ingestOf(videoId: string): Promise<IngestState | undefined> {
    return this.#store.ingestOf(videoId);
  }

  failureOf(videoId: string): Promise<string | undefined> {
    return this.#store.failureOf(videoId);
  }

  /**
   * Tries a failed video once more, with the bytes that the server has.
   * @throws AppError `nothing-to-retry`
   */
  async retry(projectId: string, videoId: string): Promise<View> {
    await this.#database.transaction(async transaction => {
      await this.#store.lock(videoId, transaction);
      const source = await this.#store.source(videoId, transaction);
      const isRetried =
        source?.status === 'failed'
          ? await this.#retrySource(source, transaction)
          : source !== undefined && isComplete(source) && (await this.#retryEncoding(videoId, transaction));
      if (!isRetried) throw new AppError('nothing-to-retry');
    });
    return this.#videos.viewOf(projectId, videoId, { hidesPrivate: false });
  }

  /** Fails at most a thousand uploads per call and returns their number. */
  async failExpired(nowMs: number): Promise<number> {
    const startedBeforeMs = nowMs - maxUploadMs;
    const expired = await this.#store.findIncompleteBefore(startedBeforeMs);
    for (const videoId of expired) {
      const removals: (() => Promise<void>)[] = [];
      const isFailed = await this.#database.transaction(async transaction => {
        await this.#store.lock(videoId, transaction);
        if (!(await this.#store.isIncompleteBefore(videoId, startedBeforeMs, transaction))) return false;
        if ((await this.#store.source(videoId, transaction))?.status === 'assembling') {
          // All chunks are here, and only their job is missing.
          await this.#jobs.add({ kind: assembleJobKind, subjectId: videoId }, transaction);
          return false;
        }
        const chunks = await this.#store.chunks(videoId, transaction);
        await this.#failSource(
          videoId,
          'The upload was not complete after 168 hours. Upload the file again.',
          transaction,
        );
        await this.#jobs.remove(videoId, transaction);
        // Last, but before the upload can begin again with other chunks. The transaction may run again.
        removals.push(this.#files.setChunksAside(videoId, chunks));
        return true;
      });
      if (!isFailed) continue;
      await Promise.all([...removals.map(remove => remove()), this.#jobs.awaitRemoved(videoId)]);
      if (await this.#store.isGone(videoId)) await this.#files.removePartial(videoId);
      this.#log.info('upload-expired', { videoId });
    }
    return expired.length;
  }

  /** Returns false when its bytes are not here, and must be uploaded again. */
  async #retrySource(source: VideoSource, transaction: Transaction): Promise<boolean> {
    const { videoId, origin } = source;
    const atMs = this.#clock.nowMs();
    if (origin === 'upload') {
      if ((await this.#store.received(videoId, transaction)).chunks === 0) return false;
      await this.#store.restart(videoId, { status: 'assembling', atMs }, transaction);
      await this.#jobs.add({ kind: assembleJobKind, subjectId: videoId }, transaction);
      return true;
    }
    await this.#store.restart(videoId, { status: 'ingesting', atMs }, transaction);
    if (origin === 'recording') await this.#retryRecording(videoId, transaction);
    else await this.#retryImport(source, transaction);
    return true;
  }

  async #requireVideo(projectId: string, videoId: string, connection?: Connection): Promise<void> {
    if ((await this.#videos.find(projectId, videoId, connection)) !== undefined) return;
    throw new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
  }

  async #sourceOf(videoId: string): Promise<VideoSource | undefined> {
    const source = await this.#store.source(videoId);
    return (await this.#hasFailed(source)) ? undefined : source;
  }

  async #hasFailed(source: VideoSource | undefined, connection?: Connection): Promise<boolean> {
    if (source === undefined) return false;
    if (source.status === 'failed') return true;
    return isComplete(source) && this.#hasEncodingFailed(source.videoId, connection);
  }

  async #cancelFailedJobs(videoId: string): Promise<void> {
    if (!(await this.#hasFailed(await this.#store.source(videoId)))) return;
    await this.#database.transaction(async transaction => {
      await this.#store.lock(videoId, transaction);
      // Again: another upload may have begun, whose jobs are kept.
      const source = await this.#store.source(videoId, transaction);
      if (await this.#hasFailed(source, transaction)) await this.#jobs.remove(videoId, transaction);
    });
    await this.#jobs.awaitRemoved(videoId);
  }

  async #checkSource(
    source: VideoSource | undefined,
    range: ContentRange | undefined,
    hasBegunBefore = false,
    connection?: Connection,
  ): Promise<'new' | 'repeat'> {
    if (source === undefined) return 'new';
    if (source.origin === 'url') throw fileError('video-source-already-downloaded');
    if (source.origin === 'clone') throw fileError('video-source-already-copied');
    if (source.origin === 'recording' || source.uploadMethod === 'plain')
      throw fileError('video-source-already-uploaded');
    if (range !== undefined) {
      const upload = await this.#store.rangedUpload(source, range, connection);
      return checkRange(range, upload, hasBegunBefore);
    }
    throw fileError(
      source.status === 'uploading'
        ? 'video-content-range-already-initiated'
        : 'video-source-already-uploaded',
    );
  }

  async #findTargetVideo(
    uploader: TokenUploader,
    file: UploadedFile,
    range: ContentRange | undefined,
    connection: Connection,
  ): Promise<string | undefined> {
    const named = file.fields.get('videoId') ?? '';
    if (named !== '') {
      await this.#requireVideo(uploader.projectId, named, connection);
      return named;
    }
    return range === undefined ? undefined : this.#findContinuedUpload(uploader, file, range, connection);
  }

  async #createVideo(
    projectId: string,
    videoId: string,
    fileName: string,
    transaction: Transaction,
  ): Promise<void> {
    const title = fileName.slice(0, maxTitleChars).toWellFormed().trim() || 'Untitled';
    await this.#videos.createNamed(projectId, videoId, { title }, transaction);
  }

  /**
   * The newest one of the same file, client and token that lacks this chunk or has the very same. A first
   * chunk that is stored already begins another upload.
   */
  async #findContinuedUpload(
    { token, client, projectId }: TokenUploader,
    file: UploadedFile,
    range: ContentRange,
    connection: Connection,
  ): Promise<string | undefined> {
    const start = { token, client, fileName: storableFileName(file) };
    const open = await this.#store.findOpenUploads(start, range.unit, projectId, connection);
    for (const { videoId, total } of open) {
      if (range.total !== undefined && total !== undefined && range.total !== total) continue;
      const chunk = await this.#store.overlapping(videoId, range, connection);
      if (chunk === undefined) return videoId;
      if (isFirstChunk(range)) continue;
      if (chunk.first === range.first && chunk.last === range.last && isSameFile(chunk.digest, file)) {
        return videoId;
      }
    }
    return undefined;
  }

  /**
   * Checks again, now that the file has arrived, and adds it to the upload.
   * @param request `hasBegunBefore`: it was admitted when its upload was not complete. `chunkFile`: its name in object
   * storage
   */
  async #storeFile(
    videoId: string,
    file: UploadedFile,
    range: ContentRange | undefined,
    request: {
      readonly projectId: string;
      readonly start?: UploadStart;
      readonly hasBegunBefore?: boolean;
      readonly chunkFile: string | null;
    },
    transaction: Transaction,
  ): Promise<StoredUpload> {
    await this.#store.lock(videoId, transaction);
    const former = await this.#store.source(videoId, transaction);
    const hasFailed = await this.#hasFailed(former, transaction);
    const source = hasFailed ? undefined : former;
    const verdict = await this.#checkSource(source, range, request.hasBegunBefore, transaction);
    if (request.start !== undefined) checkToken(source, request.start.token);
    if (range !== undefined) checkChunkSize(range, range.total ?? source?.total, file.bytes);
    if (verdict === 'repeat' && range !== undefined && source !== undefined) {
      await this.#chunks.acceptRepeat(source, file, range, transaction);
      return { videoId, path: undefined };
    }
    if (source === undefined) {
      if (hasFailed) await this.#sourceReplaced(videoId, transaction);
      await this.#beginUpload(videoId, range, request.start, transaction);
    }
    const { chunkFile } = request;
    if (range !== undefined) await this.#chunks.add(videoId, { file, chunkFile }, range, transaction);
    const isWhole = range === undefined || isWholeFile(range);
    if (isWhole && chunkFile === null) {
      const completion = { status: 'uploaded', bytes: file.bytes, atMs: this.#clock.nowMs() } as const;
      await this.#store.complete(videoId, completion, transaction);
      await this.#sourceReady(videoId, transaction);
      return { videoId, path: this.#files.source(videoId) };
    }
    const first = range?.first ?? 0;
    if (range === undefined) {
      const whole = {
        first,
        last: file.bytes - 1,
        bytes: file.bytes,
        digest: Buffer.alloc(0),
        file: chunkFile,
      };
      await this.#store.addChunk(videoId, whole, transaction);
    }
    if (isWhole) await this.#chunks.assemble(videoId, transaction);
    else {
      if (source === undefined) await this.#quotas.checkBegunUpload(request.projectId, transaction);
      await this.#chunks.assembleIfComplete(videoId, transaction);
    }
    return { videoId, path: this.#files.chunk(videoId, { first, file: chunkFile }) };
  }

  #beginUpload(
    videoId: string,
    range: ContentRange | undefined,
    startedBy: UploadStart | undefined,
    transaction: Transaction,
  ): Promise<void> {
    const source = {
      videoId,
      origin: 'upload',
      uploadMethod: range?.unit ?? 'plain',
      status: 'uploading',
      startedBy,
      total: range?.total,
      startedAtMs: this.#clock.nowMs(),
    } as const;
    return this.#store.begin(source, transaction);
  }
}

function checkNotEmpty({ bytes }: UploadedFile): void {
  if (bytes === 0) throw fileError('uploaded-file-empty');
}

function checkToken(source: VideoSource | undefined, token: string): void {
  if (source === undefined || source.startedBy?.token === token) return;
  if (source.status !== 'uploading') throw fileError('video-source-already-uploaded');
  throw fileError(
    'video-content-range-already-initiated',
    'This upload was started with another token or with an API key. Continue it with the same one.',
  );
}

/** Removes NULs, at which SQLite would end the text. */
function storableFileName(file: UploadedFile): string {
  return file.fileName.replaceAll('\u0000', '');
}
