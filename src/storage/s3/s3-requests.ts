import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import {
  doublingDelaysMs,
  type RetrySchedule,
  retryDelayMs,
} from '../../shared/scheduling/retry-schedule.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { S3Fault, type S3FaultKind, s3FaultOf } from './s3-fault.ts';

type S3Operation = 'check' | 'head' | 'get' | 'put' | 'copy' | 'delete' | 'list' | 'multipart';

export interface S3Observer {
  /** `outcome`: `ok`, or the kind of the fault. */
  readonly onRequest: (operation: S3Operation, outcome: 'ok' | S3FaultKind, seconds: number) => void;
  readonly onBytes: (direction: 'read' | 'written', bytes: number) => void;
  readonly onCacheRead: (result: 'hit' | 'miss') => void;
}

interface RequestLimits {
  /** Timeout of one attempt, or without a byte of its answer. */
  readonly timeoutMs: number;
  /** Attempts begin only within it, counted from the last byte. */
  readonly patienceMs: number;
}

/** Readers are quick to give up: viewers ask again. Writers sit out a restart of the S3 server. */
const limitsOf: Readonly<Record<S3Operation, RequestLimits>> = {
  /** Never waits for its turn. */
  check: { timeoutMs: 5_000, patienceMs: 0 },
  head: { timeoutMs: 10_000, patienceMs: 20_000 },
  get: { timeoutMs: 20_000, patienceMs: 20_000 },
  list: { timeoutMs: 30_000, patienceMs: 30_000 },
  delete: { timeoutMs: 30_000, patienceMs: 30_000 },
  put: { timeoutMs: 180_000, patienceMs: 90_000 },
  multipart: { timeoutMs: 300_000, patienceMs: 90_000 },
  copy: { timeoutMs: 600_000, patienceMs: 90_000 },
};

const impatient: RequestLimits = { timeoutMs: 5_000, patienceMs: 2_000 };

const retrySchedule: RetrySchedule = {
  delaysMs: doublingDelaysMs(100, 5_000),
  jitter: { min: 0.5, max: 1 },
};
const maxAttempts = 50;
/** Timeout of one attempt whose answer arrives slowly. */
const maxAnswerMs = 600_000;
const maxClockAttempts = 3;
/** Uploads have requests of their own, so that they never hold up readers. */
const maxReads = 48;
const maxWrites = 8;
const maxWaiting = 10_000;
const writes: ReadonlySet<S3Operation> = new Set(['put', 'copy', 'multipart']);

/** Calls `onProgress` when bytes of the answer arrive. */
type Attempt<Result> = (signal: AbortSignal, onProgress: () => void) => Promise<Result>;

/** Sends requests with limits on their number and time, and repeats those that failed for a moment. */
export class S3Requests {
  readonly #reading = new ConcurrencyLimit(maxReads);
  readonly #writing = new ConcurrencyLimit(maxWrites);
  readonly #observer: S3Observer | undefined;
  readonly #retryLog: ThrottledLog;
  /** Gives up within seconds: for the check of a start, which repeats itself and says why it waits. */
  isImpatient = false;
  readonly #stopping = new AbortController();

  constructor({ observer, log }: { readonly observer?: S3Observer | undefined; readonly log: Logger }) {
    this.#observer = observer;
    this.#retryLog = new ThrottledLog(log);
  }

  /** Readers need the requests more than a guess at the next read. */
  get isBusy(): boolean {
    return this.#reading.waitingCount > 0;
  }

  stop(): void {
    this.#stopping.abort(new AppError('stopped', 'The storage was closed'));
  }

  countBytes(direction: 'read' | 'written', bytes: number): void {
    this.#observer?.onBytes(direction, bytes);
  }

  /**
   * @param attempt may run more than once
   * @throws S3Fault `missing`, `changed`, `range`; AppError `storage-unavailable`, `disk-full`; the reason of `signal`
   */
  async run<Result>(operation: S3Operation, attempt: Attempt<Result>, signal?: AbortSignal): Promise<Result> {
    const stopped =
      signal === undefined ? this.#stopping.signal : AbortSignal.any([signal, this.#stopping.signal]);
    const { patienceMs } = this.#limitsOf(operation);
    let endsAtMs = performance.now() + patienceMs;
    const patient: Attempt<Result> = (abortSignal, onProgress) =>
      attempt(abortSignal, () => {
        endsAtMs = performance.now() + patienceMs;
        onProgress();
      });
    let clockAttempts = 0;
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await this.#queued(operation, patient, stopped, endsAtMs);
      } catch (error) {
        stopped.throwIfAborted();
        if (!(error instanceof S3Fault)) throw error;
        if (['missing', 'changed', 'range'].includes(error.kind)) throw error;
        const delayMs = retryDelayMs(retrySchedule, attempts);
        const canRepeat =
          error.kind === 'clock'
            ? ++clockAttempts < maxClockAttempts
            : error.canRetry && attempts < maxAttempts && performance.now() + delayMs <= endsAtMs;
        if (!canRepeat) throw error.toAppError();
        this.#retryLog.warn('storage-request-repeated', {
          operation,
          kind: error.kind,
          message: error.message,
        });
        await sleep(delayMs, undefined, { signal: stopped }).catch(() => stopped.throwIfAborted());
      }
    }
  }

  #limitsOf(operation: S3Operation): RequestLimits {
    return this.isImpatient && operation !== 'check' ? impatient : limitsOf[operation];
  }

  #queued<Result>(
    operation: S3Operation,
    attempt: Attempt<Result>,
    stopped: AbortSignal,
    endsAtMs: number,
  ): Promise<Result> {
    if (operation === 'check') return this.#attempted(operation, attempt, stopped);
    const lane = writes.has(operation) ? this.#writing : this.#reading;
    if (lane.waitingCount >= maxWaiting)
      throw new S3Fault('busy', 'Too many requests wait for the S3 server');
    const queuedAtMs = performance.now();
    return lane.run(async () => {
      stopped.throwIfAborted();
      if (performance.now() > endsAtMs && performance.now() - queuedAtMs > 100) {
        throw new S3Fault('busy', 'The request waited too long for its turn');
      }
      return await this.#attempted(operation, attempt, stopped);
    });
  }

  async #attempted<Result>(
    operation: S3Operation,
    attempt: Attempt<Result>,
    stopped: AbortSignal,
  ): Promise<Result> {
    // Signals of `AbortSignal.timeout` would stay in memory until their time has passed.
    const ending = new AbortController();
    let hasTimedOut = false;
    const timer = setTimeout(() => {
      hasTimedOut = true;
      ending.abort(new Error('The S3 server did not answer in time'));
    }, this.#limitsOf(operation).timeoutMs);
    const onStop = () => ending.abort(stopped.reason);
    stopped.addEventListener('abort', onStop, { once: true });
    const startedAtMs = performance.now();
    let outcome: 'ok' | S3FaultKind = 'ok';
    try {
      return await attempt(ending.signal, () => {
        if (performance.now() - startedAtMs < maxAnswerMs) timer.refresh();
      });
    } catch (error) {
      if (error instanceof AppError) throw error;
      const fault = s3FaultOf(error, hasTimedOut);
      outcome = fault.kind;
      throw fault;
    } finally {
      clearTimeout(timer);
      stopped.removeEventListener('abort', onStop);
      this.#observer?.onRequest(operation, outcome, (performance.now() - startedAtMs) / 1000);
    }
  }
}
