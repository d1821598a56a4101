import { fileError } from '../../../http/bodies/file-body.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Transaction } from '../../../store/connection.ts';
import { assembleJobKind } from './chunk-assembler.ts';
import { type ContentRange, chunkAlreadySent, maxSourceBytes, sourceTooLarge } from './content-range.ts';
import type { VideoSource, VideoSourcesStore } from './video-sources.store.ts';

/** Chunks of uploads, which are assembled when all are there. */
export class UploadChunks {
  readonly #store: VideoSourcesStore;
  readonly #jobs: JobQueue;

  constructor(store: VideoSourcesStore, jobs: JobQueue) {
    this.#store = store;
    this.#jobs = jobs;
  }

  async add(
    videoId: string,
    { file, chunkFile }: { readonly file: UploadedFile; readonly chunkFile: string | null },
    range: ContentRange,
    transaction: Transaction,
  ): Promise<void> {
    const { first, last, total } = range;
    const received = await this.#store.received(videoId, transaction);
    if (received.bytes + file.bytes > maxSourceBytes) throw sourceTooLarge();
    if (file.digest === undefined) throw new AppError('server-error', 'a chunk came without its digest');
    const chunk = { first, last, bytes: file.bytes, digest: file.digest, file: chunkFile };
    await this.#store.addChunk(videoId, chunk, transaction);
    if (total !== undefined) await this.#store.setTotal(videoId, total, transaction);
  }

  /** Accepts a chunk that is stored already. */
  async acceptRepeat(
    source: VideoSource,
    file: UploadedFile,
    range: ContentRange,
    transaction: Transaction,
  ): Promise<void> {
    const chunk = await this.#store.overlapping(source.videoId, range, transaction);
    if (chunk === undefined || !isSameFile(chunk.digest, file)) {
      throw source.status === 'uploading'
        ? chunkAlreadySent(range)
        : fileError('video-source-already-uploaded');
    }
    if (range.total === undefined || source.status !== 'uploading') return;
    await this.#store.setTotal(source.videoId, range.total, transaction);
    await this.assembleIfComplete(source.videoId, transaction);
  }

  async assembleIfComplete(videoId: string, transaction: Transaction): Promise<void> {
    const source = await this.#store.source(videoId, transaction);
    if (source?.total === undefined) return;
    const { chunks, bytes } = await this.#store.received(videoId, transaction);
    if ((source.uploadMethod === 'bytes' ? bytes : chunks) < source.total) return;
    await this.assemble(videoId, transaction);
  }

  async assemble(videoId: string, transaction: Transaction): Promise<void> {
    await this.#store.setAssembling(videoId, transaction);
    await this.#jobs.add({ kind: assembleJobKind, subjectId: videoId }, transaction);
  }
}

export function isSameFile(digest: Buffer, file: UploadedFile): boolean {
  return file.digest?.equals(digest) ?? false;
}
