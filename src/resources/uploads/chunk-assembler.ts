import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { JobKind, RunningJob } from '../../jobs/job.ts';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { toDiskError } from '../../shared/files/disk-error.ts';
import type { Database } from '../../store/database.ts';
import type { SourceConsumer } from './source-consumer.ts';
import { joinFiles, type SourceFiles } from './source-files.ts';
import { type FailSource, isComplete, sumBytes, type VideoSourcesStore } from './video-sources.store.ts';

export const assembleJobKind = 'assemble';
/** Many, because a full disk can go unnoticed for long. */
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
        const reason = error instanceof AppError ? error.message : 'The pieces could not be put together.';
        await this.#failSource(job.subjectId, reason, transaction);
      },
    };
  }

  async #run(job: RunningJob): Promise<void> {
    const videoId = job.subjectId;
    const source = await this.#store.source(videoId);
    if (source?.status === 'assembling') await this.#assemble(videoId, job);
    // The rows decide, also after a crash: a complete source needs no chunks.
    const state = await this.#store.source(videoId);
    if (state === undefined || isComplete(state)) await this.#files.removeChunks(videoId);
  }

  async #assemble(videoId: string, job: RunningJob): Promise<void> {
    const chunks = await this.#store.chunks(videoId);
    const total = sumBytes(chunks);
    const target = this.#files.partial(videoId);
    await this.#files.checkRoom(total);
    try {
      await mkdir(dirname(target), { recursive: true });
      await joinFiles(
        chunks.map(({ first, bytes }) => ({ path: this.#files.chunk(videoId, first), bytes })),
        target,
        job.signal,
        bytes => job.reportProgress((100 * bytes) / total),
      );
      await this.#files.publishPartial(videoId);
    } catch (error) {
      await this.#files.removePartial(videoId);
      throw toDiskError(error);
    }
    await this.#database.transaction(async transaction => {
      const completion = { status: 'uploaded', bytes: total, atMs: this.#clock.nowMs() } as const;
      if (!(await this.#store.complete(videoId, completion, transaction))) return;
      await this.#sourceReady(videoId, transaction);
    });
    // Deleted or expired meanwhile.
    if (await this.#store.isGone(videoId)) await this.#files.removeSource(videoId);
  }
}
