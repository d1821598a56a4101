import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { type AlarmChange, Alarms, type RaisedAlarm } from './alarms.ts';
import type { AlarmInputs } from './ingest-health.ts';

/** A broadcast whose alarms are judged. */
export interface WatchedBroadcast {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly inputs: AlarmInputs;
}

/** What {@link AlarmMonitor} needs. */
export interface AlarmMonitorOptions {
  /** All broadcasts that are live or wait for their publisher. */
  readonly broadcasts: () => readonly WatchedBroadcast[];
  /** Returns whether a broadcast is open, in any state. */
  readonly isAnyOpen: () => boolean;
  /** An alarm went on or off. */
  readonly changed: (broadcast: WatchedBroadcast, change: AlarmChange) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

const everyMs = 1000;

/** Looks at all broadcasts once a second while there are any, and knows the alarms of each. They end, without a word, with their broadcast. */
export class AlarmMonitor implements Component {
  readonly name = 'alarms';
  readonly #options: AlarmMonitorOptions;
  /** By broadcast. */
  #alarms = new Map<string, Alarms>();
  readonly #looks = new OnDemandInterval(everyMs, () => {
    this.evaluate();
    return this.#options.isAnyOpen();
  });

  constructor(options: AlarmMonitorOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#looks.stop();
  }

  /** Begins to look: a broadcast has begun. */
  wake(): void {
    this.#looks.wake();
  }

  /** The alarms of a broadcast that are on. */
  raised(broadcastId: string): RaisedAlarm[] {
    return this.#alarms.get(broadcastId)?.raised ?? [];
  }

  /** Judges all of them now. */
  evaluate(): void {
    const { broadcasts, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const atMs = clock.nowMs();
    const running = new Map<string, Alarms>();
    for (const broadcast of broadcasts()) {
      const alarms = this.#alarms.get(broadcast.broadcastId) ?? new Alarms();
      running.set(broadcast.broadcastId, alarms);
      for (const change of alarms.evaluate(broadcast.inputs, nowMs, atMs)) this.#tell(broadcast, change);
    }
    this.#alarms = running;
  }

  #tell(broadcast: WatchedBroadcast, change: AlarmChange): void {
    const { log, changed } = this.#options;
    const { liveStreamId, broadcastId } = broadcast;
    const { kind: alarm, isRaised, message } = change;
    if (isRaised) log.warn('alarm-raised', { liveStreamId, broadcastId, alarm, message });
    else log.info('alarm-cleared', { liveStreamId, broadcastId, alarm });
    try {
      changed(broadcast, change);
    } catch (error) {
      // A full disk costs the event, not the watch.
      log.error('alarm-not-told', { liveStreamId, alarm, error });
    }
  }
}
