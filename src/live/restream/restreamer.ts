import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type {
  BroadcastInfo,
  BroadcastSubscriber,
  RestreamConfig,
} from '../broadcast/broadcast-subscriber.ts';
import type { dial } from './dial.ts';
import {
  RestreamDestination,
  type RestreamObserver,
  type RestreamState,
  type RestreamStatus,
} from './restream-destination.ts';
import type { RestreamReason } from './restream-failure.ts';
import { type RestreamTimeouts, restreamTimeouts } from './restream-retries.ts';
import { type DestinationContext, RestreamSession } from './restream-session.ts';
import type { RestreamTarget } from './restream-target.ts';

export interface StoppedRestream {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly name: string;
  readonly reason: RestreamReason;
}

interface RestreamStats extends Omit<RestreamStatus, 'serverUrl'> {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Index in the restreams of the live stream. */
  readonly position: number;
}

interface RestreamerOptions {
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => ReturnType<typeof dial>;
  readonly sandboxLimitMs: number;
  /** Never rejects. */
  readonly onStopped: (stopped: StoppedRestream) => Promise<void>;
  readonly observer: RestreamObserver;
  readonly clock: Clock;
  readonly log: Logger;
  readonly times?: Partial<RestreamTimeouts>;
}

const tickMs = 1_000;

export class Restreamer implements Component {
  readonly name = 'restreams';
  readonly #options: RestreamerOptions;
  readonly #sessions = new Map<string, RestreamSession>();
  readonly #ending = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RestreamerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Waits until all connections are closed. */
  async stop(): Promise<void> {
    for (const session of [...this.#sessions.values()]) this.#end(session, true);
    await Promise.all(this.#ending);
  }

  follow(broadcast: BroadcastInfo): BroadcastSubscriber {
    const { clock, log, sandboxLimitMs } = this.#options;
    const { liveStreamId, broadcastId } = broadcast;
    const session: RestreamSession = new RestreamSession({
      broadcast,
      createDestination: (restream, context) => this.#destination(broadcast, restream, context),
      sandboxLimitMs,
      onEnding: ended => this.#awaitEnd(ended),
      onEnded: atOnce => this.#end(session, atOnce),
      clock,
      log: log.child('restreams', { liveStreamId, broadcastId }),
    });
    this.#sessions.set(broadcast.broadcastId, session);
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
    return session.subscriber;
  }

  /** Changes the destinations of a running broadcast. Does nothing without one. */
  update(liveStreamId: string, restreams: readonly RestreamConfig[]): void {
    this.#sessionOf(liveStreamId)?.update(restreams);
  }

  /** Statuses in the order of the live stream's restreams; undefined without a broadcast. */
  ofStream(liveStreamId: string): readonly RestreamStatus[] | undefined {
    return this.#sessionOf(liveStreamId)?.statuses;
  }

  stats(wants: (projectId: string) => boolean): RestreamStats[] {
    return [...this.#sessions.values()]
      .filter(({ broadcast }) => wants(broadcast.projectId))
      .flatMap(({ broadcast: { projectId, liveStreamId, broadcastId }, statuses }) =>
        statuses.map(({ serverUrl: _, ...status }, position) => {
          return { projectId, liveStreamId, broadcastId, position, ...status };
        }),
      );
  }

  countByState(): Readonly<Record<Exclude<RestreamState, 'disabled'>, number>> {
    const counts = { connecting: 0, live: 0, retrying: 0, stopped: 0 };
    for (const { destinations } of this.#sessions.values()) {
      for (const { state } of destinations) if (state !== 'disabled') counts[state] += 1;
    }
    return counts;
  }

  #destination(
    broadcast: BroadcastInfo,
    restream: RestreamConfig,
    context: DestinationContext,
  ): RestreamDestination {
    const { dial, onStopped, observer, clock, times } = this.#options;
    const { projectId, liveStreamId, broadcastId } = broadcast;
    return new RestreamDestination({
      restream,
      ...context,
      dial,
      observer,
      clock,
      times: { ...restreamTimeouts, ...times },
      onStopped: (name, reason) => void onStopped({ projectId, liveStreamId, name, reason }),
      log: this.#options.log.child('restreams', { liveStreamId, broadcastId, restream: restream.name }),
    });
  }

  #end(session: RestreamSession, atOnce: boolean): void {
    if (!this.#sessions.delete(session.broadcast.broadcastId)) return;
    if (this.#sessions.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    this.#awaitEnd(session.end(atOnce));
  }

  #awaitEnd(ended: Promise<unknown>): void {
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }

  #sessionOf(liveStreamId: string): RestreamSession | undefined {
    return [...this.#sessions.values()].findLast(({ broadcast }) => broadcast.liveStreamId === liveStreamId);
  }

  #tick(): void {
    for (const { destinations } of this.#sessions.values()) {
      for (const destination of destinations) destination.tick();
    }
  }
}
