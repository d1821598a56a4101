import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { EndReason } from '../broadcast/broadcast-state.ts';
import type { BroadcastInfo, BroadcastSubscriber } from '../broadcast/broadcast-subscriber.ts';
import { type HealthExcerpt, HealthHistory, type HealthMeasurement } from './health-history.ts';

/** Options of {@link HealthSampler}. */
export interface HealthSamplerOptions {
  /** Measures a live stream's broadcast; undefined while it cannot be played. */
  readonly measure: (liveStreamId: string) => HealthMeasurement | undefined;
  readonly clock: Clock;
  /** Broadcasts that ended whose history is kept, the newest; 100 unless given. */
  readonly maxEnded?: number;
}

/** Health of the newest broadcast of a live stream. */
export interface BroadcastHealth extends HealthExcerpt {
  readonly broadcastId: string;
  readonly startedAtMs: number;
  /** Undefined while it goes on. */
  readonly endedAtMs: number | undefined;
}

interface Followed {
  readonly broadcast: Pick<BroadcastInfo, 'broadcastId' | 'liveStreamId' | 'startedAtMs'>;
  readonly history: HealthHistory;
  isMeasured: boolean;
  endedAtMs: number | undefined;
}

const everyMs = 1000;
/** For how long a history is kept after the end of its broadcast. */
const endedKeptMs = 24 * 3_600_000;

/**
 * Measures every broadcast once a second and remembers how it did, in memory: of the broadcast that runs, and of the last one of each
 * live stream for a day. Does nothing while there is no broadcast.
 */
export class HealthSampler implements Component {
  readonly name = 'health-histories';
  readonly #options: HealthSamplerOptions;
  readonly #maxEnded: number;
  readonly #running = new Set<Followed>();
  /** By live stream, those that ended first come first. */
  readonly #ended = new Map<string, Followed>();
  readonly #interval = new OnDemandInterval(everyMs, () => {
    this.measure();
    return this.#running.size > 0;
  });

  constructor(options: HealthSamplerOptions) {
    this.#options = options;
    this.#maxEnded = options.maxEnded ?? 100;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#interval.stop();
  }

  /** Measures a broadcast until it ends. */
  follow({ broadcastId, liveStreamId, startedAtMs }: BroadcastInfo): BroadcastSubscriber {
    const followed: Followed = {
      broadcast: { broadcastId, liveStreamId, startedAtMs },
      history: new HealthHistory(),
      isMeasured: false,
      endedAtMs: undefined,
    };
    this.#running.add(followed);
    this.#interval.wake();
    return { name: this.name, ended: reason => this.#end(followed, reason) };
  }

  /** Measures all broadcasts now. */
  measure(): void {
    const { measure, clock } = this.#options;
    const nowMs = clock.nowMs();
    for (const followed of this.#running) {
      const measurement = measure(followed.broadcast.liveStreamId);
      if (measurement === undefined) continue;
      followed.history.add(measurement, nowMs);
      followed.isMeasured = true;
    }
  }

  /** The last so many seconds of the newest broadcast of a live stream; undefined when none is remembered. */
  newest(liveStreamId: string, seconds: number): BroadcastHealth | undefined {
    this.#forgetOld();
    const isOfStream = ({ broadcast, isMeasured }: Followed) =>
      isMeasured && broadcast.liveStreamId === liveStreamId;
    const found = [...this.#running].findLast(isOfStream) ?? this.#ended.get(liveStreamId);
    if (found === undefined) return undefined;
    const { broadcast, history, endedAtMs } = found;
    const { broadcastId, startedAtMs } = broadcast;
    return { broadcastId, startedAtMs, endedAtMs, ...history.excerpt(seconds) };
  }

  #end(followed: Followed, reason: EndReason): void {
    const { liveStreamId } = followed.broadcast;
    this.#running.delete(followed);
    // One that could never be played says nothing, and leaves what is known of the one before.
    if (followed.isMeasured || reason === 'deleted') this.#ended.delete(liveStreamId);
    if (!followed.isMeasured || reason === 'deleted') return;
    followed.endedAtMs = this.#options.clock.nowMs();
    this.#ended.set(liveStreamId, followed);
    this.#forgetOld();
  }

  #forgetOld(): void {
    const oldestMs = this.#options.clock.nowMs() - endedKeptMs;
    for (const [liveStreamId, { endedAtMs }] of this.#ended) {
      if (this.#ended.size <= this.#maxEnded && (endedAtMs ?? 0) > oldestMs) break;
      this.#ended.delete(liveStreamId);
    }
  }
}
