import { createHash } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { redactSourceUrl } from '../../shared/network/source-url.ts';
import { CoalescedTask } from '../../shared/scheduling/coalesced-task.ts';
import { doublingDelaysMs, retryDelayMs } from '../../shared/scheduling/retry-schedule.ts';
import type { PublishGate } from '../publish-gate.ts';
import type { PullEvents, PullInput } from './pull-input.ts';
import { pullOnce } from './pull-session.ts';

export interface PullSource {
  readonly liveStreamId: string;
  readonly projectId: string;
  /** Must not be logged unmasked. */
  readonly streamKey: string;
  /** Must not be logged unmasked. */
  readonly url: string;
}

export interface PullStatus {
  readonly state: 'connecting' | 'live' | 'retrying';
  /** Explains why the last attempt failed, in plain words. */
  readonly reason?: string | undefined;
  readonly nextAttemptAtMs?: number | undefined;
}

export interface PullSupervisorOptions {
  /** Lists sources that are turned on, in a steady order. */
  readonly list: () => Promise<readonly PullSource[]>;
  /** Servers that may pull, this one included. */
  readonly listNodes: () => Promise<readonly string[]>;
  readonly nodeId: () => string;
  readonly report: (liveStreamId: string, status: PullStatus) => Promise<void>;
  /** Calls back when sources or servers may have changed. Returns what ends that. */
  readonly onChange: (listener: () => void) => () => void;
  readonly open: (source: PullSource, events: PullEvents, signal: AbortSignal) => Promise<PullInput>;
  readonly gate: PublishGate;
  readonly maxSources: number;
  readonly maxSourcesPerProject: number;
  readonly onBytes: (count: number) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Pull {
  source: PullSource;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

const retries = { delaysMs: doublingDelaysMs(1_000, 60_000), jitter: { min: 0.75, max: 1 } };
/** The delays start over after so long without a failure. */
const healthyMs = 30_000;
/** Signals may be lost. */
const refreshMs = 30_000;

/** Pulls the sources of live streams while they are turned on. Each server pulls its share of them. */
export class PullSupervisor implements Component {
  readonly name = 'pull';
  readonly #options: PullSupervisorOptions;
  readonly #log: Logger;
  readonly #pulls = new Map<string, Pull>();
  /** Live streams over the limits, with the reason that they were told. */
  #refused: ReadonlyMap<string, string> = new Map();
  readonly #refreshing = new CoalescedTask(() => this.#refresh());
  #stopListening = () => {};
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: PullSupervisorOptions) {
    this.#options = options;
    this.#log = options.log.child('pull');
  }

  async start(): Promise<void> {
    this.#stopListening = this.#options.onChange(() => this.#refreshing.request());
    this.#refreshing.request();
  }

  /** Leaves the sources to other servers. */
  async drain(): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopListening();
    clearTimeout(this.#timer);
    this.#refreshing.cancel();
    await this.#refreshing.idle();
    await this.#end([...this.#pulls.values()]);
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const listed = await this.#options.list();
      const own = listed.length === 0 ? [] : await this.#own(listed);
      if (this.#isStopping) return;
      const { accepted, refused } = this.#limit(own);
      const wanted = new Map(accepted.map(source => [source.liveStreamId, source]));
      const ended = [...this.#pulls.values()].filter(
        ({ source }) => wanted.get(source.liveStreamId)?.url !== source.url,
      );
      await this.#end(ended);
      for (const source of accepted) {
        const running = this.#pulls.get(source.liveStreamId);
        if (running !== undefined) running.source = source;
        else if (!this.#isStopping) this.#begin(source);
      }
      await this.#reportRefused(refused);
      if (listed.length > 0) this.#refreshLater();
    } catch (error) {
      this.#log.error('sources-not-read', { error });
      this.#refreshLater();
    }
  }

  #refreshLater(): void {
    if (!this.#isStopping) this.#timer = setTimeout(() => this.#refreshing.request(), refreshMs);
  }

  /** Every server comes to the same result, and few sources move when one comes or goes. */
  async #own(sources: readonly PullSource[]): Promise<PullSource[]> {
    const nodes = await this.#options.listNodes();
    const self = this.#options.nodeId();
    return sources.filter(({ liveStreamId }) => {
      const ranks = nodes.map(id => ({ id, rank: rankOf(id, liveStreamId) }));
      const first = ranks.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))[0];
      return first?.id === self;
    });
  }

  #limit(sources: readonly PullSource[]): { accepted: PullSource[]; refused: Map<string, string> } {
    const { maxSources, maxSourcesPerProject } = this.#options;
    const perProject = new Map<string, number>();
    const accepted: PullSource[] = [];
    const refused = new Map<string, string>();
    for (const source of sources) {
      const count = perProject.get(source.projectId) ?? 0;
      if (count >= maxSourcesPerProject) {
        refused.set(source.liveStreamId, describeLimit(count, ' of this project'));
      } else if (accepted.length >= maxSources) {
        refused.set(source.liveStreamId, describeLimit(maxSources));
      } else {
        accepted.push(source);
        perProject.set(source.projectId, count + 1);
      }
    }
    return { accepted, refused };
  }

  async #reportRefused(refused: ReadonlyMap<string, string>): Promise<void> {
    for (const [liveStreamId, reason] of refused) {
      if (this.#refused.get(liveStreamId) === reason) continue;
      await this.#options.report(liveStreamId, { state: 'retrying', reason });
    }
    this.#refused = refused;
  }

  #begin(source: PullSource): void {
    const abort = new AbortController();
    const pull: Pull = {
      source,
      abort,
      done: Promise.resolve().then(() => this.#run(pull, abort.signal)),
    };
    this.#pulls.set(source.liveStreamId, pull);
  }

  async #end(pulls: readonly Pull[]): Promise<void> {
    for (const { abort } of pulls) abort.abort();
    await Promise.all(pulls.map(({ done }) => done));
    for (const pull of pulls) this.#pulls.delete(pull.source.liveStreamId);
  }

  async #run(pull: Pull, signal: AbortSignal): Promise<void> {
    const { clock, gate, onBytes, open } = this.#options;
    const { liveStreamId, url } = pull.source;
    const log = this.#log.child('pull', { liveStreamId, source: redactSourceUrl(url) });
    let attempts = 0;
    let reason: string | undefined;
    while (!signal.aborted) {
      await this.#report(liveStreamId, { state: 'connecting', reason }, log);
      let liveAtMs: number | undefined;
      const { description } = await pullOnce(
        {
          streamKey: pull.source.streamKey,
          gate,
          onBytes,
          log,
          open: (events, given) => open(pull.source, events, given),
          onLive: () => {
            liveAtMs = clock.monotonicMs();
            log.info('source-live');
            void this.#report(liveStreamId, { state: 'live' }, log);
          },
        },
        signal,
      );
      if (signal.aborted) return;
      const wasHealthy = liveAtMs !== undefined && clock.monotonicMs() - liveAtMs >= healthyMs;
      attempts = wasHealthy ? 1 : attempts + 1;
      const delayMs = retryDelayMs(retries, attempts);
      reason = description;
      log.info('source-retrying', { reason, delayMs });
      await this.#report(
        liveStreamId,
        { state: 'retrying', reason, nextAttemptAtMs: clock.nowMs() + delayMs },
        log,
      );
      await waitFor(delayMs, signal);
    }
  }

  async #report(liveStreamId: string, status: PullStatus, log: Logger): Promise<void> {
    await this.#options
      .report(liveStreamId, status)
      .catch((error: unknown) => log.warn('source-state-not-stored', { error }));
  }
}

function describeLimit(count: number, whose = ''): string {
  if (count === 0) return 'Pulling sources is turned off on this server. Ask the operator to turn it on.';
  const sources = count === 1 ? '1 source' : `${count} sources`;
  return `This server already pulls ${sources}${whose}, which is the limit. Turn another one off first.`;
}

/** Ends early with `signal`. */
async function waitFor(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  const stop = () => resolve();
  signal.addEventListener('abort', stop, { once: true });
  if (!signal.aborted) await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', stop);
}

function rankOf(nodeId: string, liveStreamId: string): string {
  return createHash('sha256').update(`${nodeId} ${liveStreamId}`).digest('hex');
}
