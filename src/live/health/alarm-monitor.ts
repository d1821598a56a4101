import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { type AlarmChange, Alarms, type RaisedAlarm } from './alarms.ts';
import type { AlarmInputs } from './ingest-health.ts';

export interface WatchedBroadcast {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly inputs: AlarmInputs;
}

interface AlarmMonitorOptions {
  readonly broadcasts: () => readonly WatchedBroadcast[];
  readonly isAnyOpen: () => boolean;
  readonly changed: (broadcast: WatchedBroadcast, change: AlarmChange) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const intervalMs = 1000;

/** Evaluates the alarms of open broadcasts once a second. Alarms end silently with their broadcast. */
export class AlarmMonitor implements Component {
  readonly name = 'alarms';
  readonly #options: AlarmMonitorOptions;
  #alarmsByBroadcast = new Map<string, Alarms>();
  #reported: Promise<void> = Promise.resolve();
  readonly #interval = new OnDemandInterval(intervalMs, () => {
    this.evaluate();
    return this.#options.isAnyOpen();
  });

  constructor(options: AlarmMonitorOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#interval.stop();
    await this.#reported;
  }

  wake(): void {
    this.#interval.wake();
  }

  raised(broadcastId: string): RaisedAlarm[] {
    return this.#alarmsByBroadcast.get(broadcastId)?.raised ?? [];
  }

  evaluate(): void {
    const { broadcasts, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const atMs = clock.nowMs();
    const running = new Map<string, Alarms>();
    for (const broadcast of broadcasts()) {
      const alarms = this.#alarmsByBroadcast.get(broadcast.broadcastId) ?? new Alarms();
      running.set(broadcast.broadcastId, alarms);
      for (const change of alarms.evaluate(broadcast.inputs, nowMs, atMs)) this.#report(broadcast, change);
    }
    this.#alarmsByBroadcast = running;
  }

  #report(broadcast: WatchedBroadcast, change: AlarmChange): void {
    const { log, changed } = this.#options;
    const { liveStreamId, broadcastId } = broadcast;
    const { kind: alarm, isRaised, message } = change;
    if (isRaised) log.warn('alarm-raised', { liveStreamId, broadcastId, alarm, message });
    else log.info('alarm-cleared', { liveStreamId, broadcastId, alarm });
    // A full disk loses the event and must not end the monitor.
    this.#reported = this.#reported
      .then(() => changed(broadcast, change))
      .catch(error => log.error('alarm-event-failed', { liveStreamId, alarm, error }));
  }
}
