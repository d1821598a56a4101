import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { dayMs, dayOf } from '../../shared/day.ts';
import { AppError } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { type CpuTimes, readCpus, readDisk, readMemory, residentBytesOf, sharesBetween } from './machine.ts';
import type { ServerStateView } from './server-state.schema.ts';
import type { ServerStateStore } from './server-state.store.ts';
import { findWarnings } from './server-warnings.ts';

export interface ServerComponents {
  readonly programs: ServerStateView['programs'];
  readonly isolation: ServerStateView['isolation'];
  readonly minFreeBytes: number;
  readonly codecs: ServerStateView['codecs'];
  readonly newerVersion?: () => string | undefined;
  encoder(): ServerStateView['encoder'];
  childPids(): readonly number[];
  jobs(): Promise<{ readonly waiting: number; readonly running: number; readonly isPaused: boolean }>;
  /** Lag of the recording whose upload to object storage is furthest behind. */
  recordingLagSeconds(): number;
  live(): { readonly broadcasts: number; readonly viewers: number };
  /** Undefined without one that the server orders itself. */
  certificate?(): CertificateState | undefined;
  /** Undefined for the only server of a database. */
  nodes(): Promise<ServerStateView['nodes']>;
}

interface CertificateState {
  readonly domains: readonly string[];
  readonly state: 'missing' | 'valid' | 'expired';
  readonly expiresAtMs?: number | undefined;
  readonly renewAtMs?: number | undefined;
  readonly problem?: string | undefined;
  readonly failure?:
    | { readonly reason: string; readonly uncoveredDomains: readonly string[]; readonly retryAtMs: number }
    | undefined;
}

interface ServerMonitorOptions {
  readonly version: string;
  readonly dataDir: string;
  readonly store: ServerStateStore;
  readonly components: ServerComponents;
  readonly clock: Clock;
  readonly log: Logger;
  /** 5,000 unless given. */
  readonly intervalMs?: number;
}

const defaultIntervalMs = 5_000;
const firstMeasurementMs = 250;
const idleTimeoutMs = 60_000;

/** Measures the machine and the server every five seconds, for a minute after each request. */
export class ServerMonitor implements Component {
  readonly name = 'server-watch';
  readonly #options: ServerMonitorOptions;
  readonly #startedAtMs: number;
  readonly #stopping = new AbortController();
  #previousCpu: CpuTimes | undefined;
  #latest: Promise<ServerStateView> | undefined;
  #lastRequestAtMs = 0;
  #isMeasuring = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServerMonitorOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.nowMs();
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#pause();
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Returns a state that is at most five seconds old. @throws AppError `server-draining` after {@link stop} */
  async state(): Promise<ServerStateView> {
    if (this.#stopping.signal.aborted) throw new AppError('server-draining');
    this.#lastRequestAtMs = this.#options.clock.monotonicMs();
    this.#latest ??= this.#startMeasuring();
    return await this.#latest;
  }

  async #startMeasuring(): Promise<ServerStateView> {
    const { signal } = this.#stopping;
    this.#previousCpu = readCpus().times;
    try {
      await sleep(firstMeasurementMs, undefined, { signal });
      const first = await this.#measure();
      signal.throwIfAborted();
      this.#timer = setInterval(() => void this.#tick(), this.#options.intervalMs ?? defaultIntervalMs);
      this.#timer.unref();
      return first;
    } catch (error) {
      this.#pause();
      if (signal.aborted) throw new AppError('server-draining', undefined, { cause: error });
      throw error;
    }
  }

  async #tick(): Promise<void> {
    if (this.#isMeasuring) return;
    if (this.#options.clock.monotonicMs() - this.#lastRequestAtMs > idleTimeoutMs) {
      this.#pause();
      return;
    }
    this.#isMeasuring = true;
    try {
      const state = await this.#measure();
      if (this.#timer !== undefined) this.#latest = Promise.resolve(state);
    } catch (error) {
      this.#options.log.warn('server-not-measured', { error });
      this.#pause();
    } finally {
      this.#isMeasuring = false;
    }
  }

  #pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#latest = undefined;
    this.#previousCpu = undefined;
  }

  async #measure(): Promise<ServerStateView> {
    const { version, dataDir, store, components, clock } = this.#options;
    const { cores, times } = readCpus();
    const cpu = { cores, ...sharesBetween(this.#previousCpu ?? times, times) };
    this.#previousCpu = times;
    const nowMs = clock.nowMs();
    const { serverBytes, ...machine } = readMemory();
    const { isPaused, ...jobs } = await components.jobs();
    const failedToday = await store.countFailedJobsSince(dayOf(nowMs) * dayMs);
    const [childrenBytes, disk, nodes] = await Promise.all([
      residentBytesOf(components.childPids()),
      readDisk(dataDir),
      components.nodes(),
    ]);
    const certificate = components.certificate?.();
    const recordingLagSeconds = components.recordingLagSeconds();
    const measured = {
      cpu,
      memory: { serverBytes, childrenBytes, ...machine },
      disk: { ...disk, minFreeBytes: components.minFreeBytes },
      queue: { ...jobs, failedToday, isPaused },
      programs: components.programs,
    };
    return {
      version,
      newerVersion: components.newerVersion?.(),
      startedAt: formatAtom(this.#startedAtMs),
      measuredAt: formatAtom(nowMs),
      ...measured,
      isolation: components.isolation,
      encoder: components.encoder(),
      codecs: components.codecs,
      live: { ...components.live(), recordingLagSeconds: Math.round(recordingLagSeconds) },
      ...(certificate === undefined ? {} : { certificate: certificateView(certificate) }),
      ...(nodes === undefined ? {} : { nodes }),
      warnings: findWarnings({
        ...measured,
        recordingLagSeconds,
        certificateProblem: certificate?.problem,
      }),
    };
  }
}

function certificateView({
  domains,
  state,
  expiresAtMs,
  renewAtMs,
  failure,
}: CertificateState): NonNullable<ServerStateView['certificate']> {
  return {
    domains: [...domains],
    state,
    ...(expiresAtMs === undefined ? {} : { expiresAt: formatAtom(expiresAtMs) }),
    ...(renewAtMs === undefined ? {} : { renewAt: formatAtom(renewAtMs) }),
    ...(failure === undefined
      ? {}
      : {
          failure: {
            reason: failure.reason,
            uncoveredDomains: [...failure.uncoveredDomains],
            retryAt: formatAtom(failure.retryAtMs),
          },
        }),
  };
}
