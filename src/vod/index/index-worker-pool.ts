import { rm, stat } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import { AppError } from '../../shared/errors.ts';
import { fileVersion } from '../../shared/files/file-version.ts';
import { maxEntries } from '../../shared/lru-limit.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import type { IndexProgressiveOptions, IndexProgressiveResult } from './index-progressive.ts';
import type { IndexReply, IndexRequest } from './index-worker.ts';

export interface IndexWorkerLimits {
  readonly timeoutMs: number;
  /** JavaScript heap of a thread, without buffers. The largest buffer is the `moov`. */
  readonly memoryBytes: number;
  readonly maxMovieBytes: number;
}

const maxWorkers = 2;
const IDLE_MS = 5_000;
const MIB = 1024 * 1024;

type Outcome<Result> =
  | { readonly kind: 'replied'; readonly reply: IndexReply<Result> }
  | { readonly kind: 'ended'; readonly why: string };

/**
 * Indexes uploads in worker threads, so that a hostile file can neither block the event loop nor exhaust
 * memory. V8's limit only holds while objects grow in small steps, so the parser bounds every list whose
 * length the file controls. The owner calls {@link IndexWorkerPool.stop}.
 */
export class IndexWorkerPool {
  readonly #limits: IndexWorkerLimits;
  readonly #turns = new ConcurrencyLimit(maxWorkers);
  readonly #all = new Set<Worker>();
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  /** Results by file: the jobs of a video read the same one. */
  readonly #described = new LRUCache<string, { readonly probed: ProbedFile | undefined }>(maxEntries(100));
  #isStopped = false;

  constructor(limits: IndexWorkerLimits) {
    this.#limits = limits;
  }

  get threads(): number {
    return this.#all.size;
  }

  /**
   * Refuses a file that exceeds the limits of time or memory. @throws the signal's reason; a system error
   * when the file cannot be read or the folder not be written; AppError `stopped`
   */
  index(path: string, options: IndexProgressiveOptions): Promise<IndexProgressiveResult> {
    return this.#turns.run(async () => {
      const { signal, ...rest } = options;
      signal.throwIfAborted();
      if (this.#isStopped) throw new AppError('stopped');
      const outcome = await this.#ask<IndexProgressiveResult>(
        { path, options: { maxMovieBytes: this.#limits.maxMovieBytes, ...rest } },
        signal,
      );
      if (outcome.kind === 'replied') return resultOf(outcome.reply);
      const names = ['video', 'audio', ...(options.moreAudio ?? []).map(({ name }) => name)];
      for (const name of names) await rm(join(options.folder, `${name}.index`), { force: true });
      signal.throwIfAborted();
      if (this.#isStopped) throw new AppError('stopped');
      return {
        kind: 'refused',
        reason: `The file must be encoded: reading its index ${outcome.why}.`,
      };
    });
  }

  /** Describes a plain MP4 as ffprobe does. Undefined for other files. @throws the signal's reason */
  async describe(path: string, signal: AbortSignal): Promise<ProbedFile | undefined> {
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) return undefined;
    const key = fileVersion(path, stats);
    const known = this.#described.get(key);
    if (known !== undefined) return known.probed;
    return this.#turns.run(async () => {
      signal.throwIfAborted();
      if (this.#isStopped) throw new AppError('stopped');
      const outcome = await this.#ask<ProbedFile | undefined>({ path }, signal);
      signal.throwIfAborted();
      if (outcome.kind === 'ended' || 'message' in outcome.reply) return undefined;
      const probed = outcome.reply.result;
      this.#described.set(key, { probed });
      return probed;
    });
  }

  /** Starts a thread for a file that is about to arrive. */
  warm(): void {
    if (!this.#isStopped && this.#all.size === 0) this.#keep(this.#start());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    await Promise.all([...this.#all].map(worker => worker.terminate()));
  }

  async #ask<Result>(request: IndexRequest, signal: AbortSignal): Promise<Outcome<Result>> {
    const worker = this.#idleWorker() ?? this.#start();
    const { promise, resolve } = Promise.withResolvers<Outcome<Result>>();
    const { timeoutMs, memoryBytes } = this.#limits;
    let why = 'ended its thread';
    let isEnding = false;
    const end = (reason: string) => {
      why = reason;
      isEnding = true;
      void worker.terminate();
    };
    // A reply that crosses the end of the thread comes right before its exit.
    const onMessage = (reply: IndexReply<Result>) => {
      if (!isEnding) resolve({ kind: 'replied', reply });
    };
    const onError = (error: Error & { code?: string }) => {
      // No memory or descriptors for a thread.
      if (error.code === 'ERR_WORKER_INIT_FAILED')
        resolve({ kind: 'replied', reply: { message: error.message, systemCode: error.code } });
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      why = isMemory
        ? `needs more than ${Math.round(memoryBytes / MIB)} MiB of memory`
        : `failed (${error.message})`;
    };
    // The last event of a thread: its files are closed now.
    const onExit = () => resolve({ kind: 'ended', why });
    const onAbort = () => end('was cancelled');
    const timer = setTimeout(() => end(`takes longer than ${timeoutMs / 1000} s`), timeoutMs);
    worker.once('message', onMessage).once('error', onError).once('exit', onExit);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.ref();
    worker.postMessage(request);
    const outcome = await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    // A thread that has ended would never answer, and never end again.
    if (outcome.kind === 'replied' && this.#all.has(worker)) this.#keep(worker);
    return outcome;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./index-worker.ts', import.meta.url), {
      env: codeCacheEnvironment(),
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(this.#limits.memoryBytes / MIB),
        maxYoungGenerationSizeMb: 16,
      },
    });
    this.#all.add(worker);
    // Without a handler, an error of an idle thread would end the server.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.#all.delete(worker);
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
    });
    return worker;
  }

  #idleWorker(): Worker | undefined {
    const [found] = this.#idle;
    if (found === undefined) return undefined;
    const [worker, timer] = found;
    clearTimeout(timer);
    this.#idle.delete(worker);
    return worker;
  }

  #keep(worker: Worker): void {
    worker.unref();
    const timer = setTimeout(() => {
      this.#idle.delete(worker);
      void worker.terminate();
    }, IDLE_MS);
    this.#idle.set(worker, timer.unref());
  }
}

/** Threads load their code from the cache of the process, where it has one, and know nothing else of its environment. */
function codeCacheEnvironment(): Record<string, string> {
  const folder = getCompileCacheDir();
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

function resultOf(reply: IndexReply<IndexProgressiveResult>): IndexProgressiveResult {
  if ('result' in reply) return reply.result;
  const { message, systemCode } = reply;
  throw Object.assign(new Error(message), systemCode === undefined ? {} : { code: systemCode });
}
