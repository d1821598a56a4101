import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JobKind, RunningJob } from '../../../jobs/job.ts';
import type { Clock } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { toMachineError } from '../../../shared/files/disk-error.ts';
import type { Database } from '../../../store/database.ts';
import type { SourceConsumer } from './source-consumer.ts';
import { joinFiles, type SourceFiles } from './source-files.ts';
import {
  type FailSource,
  isComplete,
  type StoredChunk,
  sumBytes,
  type VideoSourcesStore,
} from './video-sources.store.ts';

export const assembleJobKind = 'assemble';
/** Many attempts, because a full disk can go unnoticed for long. */
const maxAttempts = 100;

export class ChunkAssembler {
  readonly #store: VideoSourcesStore;
  readonly #database: Database;
  readonly #files: SourceFiles;
  readonly #sourceReady: SourceConsumer['sourceReady'];
  readonly #failSource: FailSource;
  readonly #clock: Clock;

  constructor(options: {
    store: VideoSourcesStore;
    database: Database;
    files: SourceFiles;
    sourceReady: SourceConsumer['sourceReady'];
    failSource: FailSource;
    clock: Clock;
  }) {
    this.#store = options.store;
    this.#database = options.database;
    this.#files = options.files;
    this.#sourceReady = options.sourceReady;
    this.#failSource = options.failSource;
    this.#clock = options.clock;
  }

  kind(lane: string): JobKind {
    return {
      kind: assembleJobKind,
      lane,
      maxAttempts,
      run: job => this.#run(job),
      onGiveUp: async (job, error, transaction) => {
        const reason = error instanceof AppError ? error.message : 'The chunks could not be joined.';
        await this.#failSource(job.subjectId, reason, transaction);
      },
    };
  }

  async #run(job: RunningJob): Promise<void> {
    const videoId = job.subjectId;
    const source = await this.#store.source(videoId);
    const chunks = await this.#store.chunks(videoId);
    if (source?.status === 'assembling') await this.#assemble(videoId, chunks, job);
    // The rows decide, also after a crash: a complete source needs no chunks.
    const state = await this.#store.source(videoId);
    if (state === undefined || isComplete(state)) await this.#files.setChunksAside(videoId, chunks)();
  }

  async #assemble(videoId: string, chunks: readonly StoredChunk[], job: RunningJob): Promise<void> {
    const total = sumBytes(chunks);
    const [only, ...others] = chunks;
    if (only !== undefined && others.length === 0 && !this.#files.areLocal) {
      await this.#files.copyToSource(this.#files.chunk(videoId, only), videoId, job.signal);
    } else {
      await this.#join(videoId, chunks, job);
    }
    await this.#database.transaction(async transaction => {
      await job.ensureOwned(transaction);
      const completion = { status: 'uploaded', bytes: total, atMs: this.#clock.nowMs() } as const;
      if (!(await this.#store.complete(videoId, completion, transaction))) return;
      await this.#sourceReady(videoId, transaction);
    });
    // Deleted or expired meanwhile.
    if (await this.#store.isGone(videoId)) await this.#files.removeSource(videoId);
  }

  async #join(videoId: string, chunks: readonly StoredChunk[], job: RunningJob): Promise<void> {
    const files = this.#files;
    const total = sumBytes(chunks);
    const target = files.partial(videoId);
    await files.checkRoom(total);
    try {
      await mkdir(dirname(target), { recursive: true });
      await joinFiles(
        chunks.map(chunk => ({
          name: String(chunk.first),
          bytes: chunk.bytes,
          withLocal: work => files.withLocalChunk(videoId, chunk, work, job.signal),
        })),
        target,
        job.signal,
        bytes => job.reportProgress((100 * bytes) / total),
      );
      await files.publishPartial(videoId, job.signal);
    } catch (error) {
      await files.removePartial(videoId);
      throw toMachineError(error);
    }
  }
}
