import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { dayMs, dayOf } from '../../shared/day.ts';
import { AppError } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { type CpuTimes, readCpus, readDisk, readMemory, residentBytesOf, sharesBetween } from './machine.ts';
import type { ServerStateView } from './server-state.schema.ts';
import type { ServerStateStore } from './server-state.store.ts';
import { warningsOf } from './warnings.ts';

/** What the parts of the server tell of themselves, as they are when they are asked. */
export interface ServerParts {
  /** What media is worked on with. */
  readonly programs: ServerStateView['programs'];
  /** Free bytes of the disk below which uploads are refused. */
  readonly minFreeBytes: number;
  /** Process ids of the programs that run. */
  childPids(): readonly number[];
  jobs(): { readonly waiting: number; readonly running: number; readonly isPaused: boolean };
  live(): { readonly broadcasts: number; readonly viewers: number };
}

/** What a {@link ServerWatch} is made with. */
export interface ServerWatchOptions {
  readonly version: string;
  /** The data folder. */
  readonly dataDir: string;
  readonly store: ServerStateStore;
  readonly parts: ServerParts;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often it looks while it is asked; 5,000 ms unless given. */
  readonly everyMs?: number;
}

const usualEveryMs = 5_000;
/** Between the first two readings: processors are known by what they do in a time. */
const firstSpanMs = 250;
const watchedForMs = 60_000;

/** Looks at the machine and the server every five seconds, as long as somebody has asked within the last minute; else it does nothing. */
export class ServerWatch implements Component {
  readonly name = 'server-watch';
  readonly #options: ServerWatchOptions;
  readonly #startedAtMs: number;
  readonly #stopping = new AbortController();
  #before: CpuTimes | undefined;
  #latest: Promise<ServerStateView> | undefined;
  #askedAtMs = 0;
  #isLooking = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#rest();
  }

  /** Whether it looks by itself now. */
  get isWatching(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * How the server is: as it was at most five seconds ago.
   *
   * @throws AppError `server-draining` once it is stopped
   */
  async state(): Promise<ServerStateView> {
    if (this.#stopping.signal.aborted) throw new AppError('server-draining');
    this.#askedAtMs = this.#options.clock.monotonicMs();
    this.#latest ??= this.#begin();
    return await this.#latest;
  }

  async #begin(): Promise<ServerStateView> {
    const { signal } = this.#stopping;
    this.#before = readCpus().times;
    try {
      await sleep(firstSpanMs, undefined, { signal });
      const first = await this.#look();
      signal.throwIfAborted();
      this.#timer = setInterval(() => void this.#tick(), this.#options.everyMs ?? usualEveryMs);
      this.#timer.unref();
      return first;
    } catch (error) {
      this.#rest();
      if (signal.aborted) throw new AppError('server-draining', undefined, { cause: error });
      throw error;
    }
  }

  async #tick(): Promise<void> {
    if (this.#isLooking) return;
    if (this.#options.clock.monotonicMs() - this.#askedAtMs > watchedForMs) {
      this.#rest();
      return;
    }
    this.#isLooking = true;
    try {
      const state = await this.#look();
      if (this.#timer !== undefined) this.#latest = Promise.resolve(state);
    } catch (error) {
      this.#options.log.warn('server-not-measured', { error });
      this.#rest();
    } finally {
      this.#isLooking = false;
    }
  }

  /** Until somebody asks again. */
  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#latest = undefined;
    this.#before = undefined;
  }

  async #look(): Promise<ServerStateView> {
    const { version, dataDir, store, parts, clock } = this.#options;
    const { cores, times } = readCpus();
    const cpu = { cores, ...sharesBetween(this.#before ?? times, times) };
    this.#before = times;
    const nowMs = clock.nowMs();
    const { serverBytes, ...machine } = readMemory();
    const { isPaused, ...jobs } = parts.jobs();
    const failedToday = store.jobsFailedSince(dayOf(nowMs) * dayMs);
    const [childrenBytes, disk] = await Promise.all([residentBytesOf(parts.childPids()), readDisk(dataDir)]);
    const facts = {
      cpu,
      memory: { serverBytes, ...(childrenBytes === undefined ? {} : { childrenBytes }), ...machine },
      disk: { ...disk, minFreeBytes: parts.minFreeBytes },
      queue: { ...jobs, failedToday, isPaused },
      programs: parts.programs,
    };
    return {
      version,
      startedAt: formatAtom(this.#startedAtMs),
      measuredAt: formatAtom(nowMs),
      ...facts,
      live: parts.live(),
      warnings: warningsOf(facts),
    };
  }
}
