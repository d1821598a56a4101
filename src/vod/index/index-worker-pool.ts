import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../shared/errors.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import type { IndexProgressiveOptions, IndexProgressiveResult } from './index-progressive.ts';
import type { IndexReply, IndexRequest } from './index-worker.ts';

/** Limits of the threads that parse uploaded files. */
export interface IndexWorkerLimits {
  readonly timeoutMs: number;
  /** JavaScript heap of one thread. Buffers are not part of it: the largest is the `moov`. */
  readonly memoryBytes: number;
  readonly maxMovieBytes: number;
}

/** Files that are indexed at once; more wait. */
const maxWorkers = 2;
/** A thread that has nothing to do for this long ends, and its memory with it. */
const IDLE_MS = 5_000;
const MIB = 1024 * 1024;

/** The outcome of one request to a thread. `ended`: the thread is gone. */
type Outcome =
  | { readonly kind: 'replied'; readonly reply: IndexReply }
  | { readonly kind: 'ended'; readonly why: string };

/**
 * Indexes uploaded files in threads, so that a hostile file costs neither the event loop nor the memory of the server.
 *
 * V8 can end a thread at its memory limit only while objects grow in small steps: the parser itself bounds every list that a file can
 * make long. The owner ends all threads with {@link IndexWorkerPool.stop}.
 */
export class IndexWorkerPool {
  readonly #limits: IndexWorkerLimits;
  readonly #turns = new ConcurrencyLimit(maxWorkers);
  readonly #all = new Set<Worker>();
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  #isStopped = false;

  constructor(limits: IndexWorkerLimits) {
    this.#limits = limits;
  }

  /** The number of threads that run, idle ones included. */
  get threads(): number {
    return this.#all.size;
  }

  /**
   * Does what `indexProgressive` does. A file that exceeds the limits of time or memory is refused.
   *
   * @throws the signal's reason; a system error when the file cannot be read or the folder not be written; AppError `stopped`
   */
  index(path: string, options: IndexProgressiveOptions): Promise<IndexProgressiveResult> {
    return this.#turns.run(async () => {
      const { signal, ...rest } = options;
      signal.throwIfAborted();
      if (this.#isStopped) throw new AppError('stopped');
      const outcome = await this.#ask(
        { path, options: { maxMovieBytes: this.#limits.maxMovieBytes, ...rest } },
        signal,
      );
      if (outcome.kind === 'replied') return resultOf(outcome.reply);
      for (const name of ['video.index', 'audio.index'])
        await rm(join(options.folder, name), { force: true });
      signal.throwIfAborted();
      if (this.#isStopped) throw new AppError('stopped');
      return {
        kind: 'refused',
        reason: `The file cannot be played as it is: reading its index ${outcome.why}.`,
      };
    });
  }

  /** Ends all threads; what they worked on rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#idle.values()) clearTimeout(timer);
    await Promise.all([...this.#all].map(worker => worker.terminate()));
  }

  async #ask(request: IndexRequest, signal: AbortSignal): Promise<Outcome> {
    const worker = this.#idleWorker() ?? this.#start();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const { timeoutMs, memoryBytes } = this.#limits;
    let why = 'ended its thread';
    const end = (reason: string) => {
      why = reason;
      void worker.terminate();
    };
    const onMessage = (reply: IndexReply) => resolve({ kind: 'replied', reply });
    const onError = (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      why = isMemory
        ? `needs more than ${Math.round(memoryBytes / MIB)} MiB of memory`
        : `failed (${error.message})`;
    };
    // Comes last, whatever ended the thread: its files are closed then.
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
    if (outcome.kind === 'replied') this.#keep(worker);
    return outcome;
  }

  #start(): Worker {
    const worker = new Worker(new URL('./index-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(this.#limits.memoryBytes / MIB),
        maxYoungGenerationSizeMb: 16,
      },
    });
    this.#all.add(worker);
    // One that ends while it is idle is of no interest; without a handler its error would end the server.
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

function resultOf(reply: IndexReply): IndexProgressiveResult {
  if ('result' in reply) return reply.result;
  const { message, systemCode } = reply;
  throw Object.assign(new Error(message), systemCode === undefined ? {} : { code: systemCode });
}
