import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import type { EndReason } from '../broadcast/broadcast-state.ts';
import type { BroadcastInfo, BroadcastSubscriber } from '../broadcast/broadcast-subscriber.ts';
import { type HealthExcerpt, HealthHistory, type HealthMeasurement } from './health-history.ts';

interface HealthSamplerOptions {
  readonly measure: (liveStreamId: string) => HealthMeasurement | undefined;
  readonly clock: Clock;
  /** Ended broadcasts whose history is kept; 100 by default. */
  readonly maxEnded?: number;
}

interface BroadcastHealth extends HealthExcerpt {
  readonly broadcastId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}

interface SampledBroadcast {
  readonly broadcast: Pick<BroadcastInfo, 'broadcastId' | 'liveStreamId' | 'startedAtMs'>;
  readonly history: HealthHistory;
  isMeasured: boolean;
  endedAtMs: number | undefined;
}

const intervalMs = 1000;
const endedTtlMs = 24 * 3_600_000;

/** Measures running broadcasts once a second. Keeps the history of each live stream's last broadcast for a day. */
export class HealthSampler implements Component {
  readonly name = 'health-histories';
  readonly #options: HealthSamplerOptions;
  readonly #maxEnded: number;
  readonly #running = new Set<SampledBroadcast>();
  readonly #ended = new Map<string, SampledBroadcast>();
  readonly #interval = new OnDemandInterval(intervalMs, () => {
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

  follow({ broadcastId, liveStreamId, startedAtMs }: BroadcastInfo): BroadcastSubscriber {
    const sampled: SampledBroadcast = {
      broadcast: { broadcastId, liveStreamId, startedAtMs },
      history: new HealthHistory(),
      isMeasured: false,
      endedAtMs: undefined,
    };
    this.#running.add(sampled);
    this.#interval.wake();
    return { name: this.name, ended: reason => this.#end(sampled, reason) };
  }

  measure(): void {
    const { measure, clock } = this.#options;
    const nowMs = clock.nowMs();
    for (const sampled of this.#running) {
      const measurement = measure(sampled.broadcast.liveStreamId);
      if (measurement === undefined) continue;
      sampled.history.add(measurement, nowMs);
      sampled.isMeasured = true;
    }
  }

  newest(liveStreamId: string, seconds: number): BroadcastHealth | undefined {
    this.#removeExpired();
    const matches = ({ broadcast, isMeasured }: SampledBroadcast) =>
      isMeasured && broadcast.liveStreamId === liveStreamId;
    const found = [...this.#running].findLast(matches) ?? this.#ended.get(liveStreamId);
    if (found === undefined) return undefined;
    const { broadcast, history, endedAtMs } = found;
    const { broadcastId, startedAtMs } = broadcast;
    return { broadcastId, startedAtMs, endedAtMs, ...history.excerpt(seconds) };
  }

  #end(sampled: SampledBroadcast, reason: EndReason): void {
    const { liveStreamId } = sampled.broadcast;
    this.#running.delete(sampled);
    // One that was never playable leaves the previous broadcast's history.
    if (sampled.isMeasured || reason === 'deleted') this.#ended.delete(liveStreamId);
    if (!sampled.isMeasured || reason === 'deleted') return;
    sampled.endedAtMs = this.#options.clock.nowMs();
    this.#ended.set(liveStreamId, sampled);
    this.#removeExpired();
  }

  #removeExpired(): void {
    const oldestMs = this.#options.clock.nowMs() - endedTtlMs;
    for (const [liveStreamId, { endedAtMs }] of this.#ended) {
      if (this.#ended.size <= this.#maxEnded && (endedAtMs ?? 0) > oldestMs) break;
      this.#ended.delete(liveStreamId);
    }
  }
}
