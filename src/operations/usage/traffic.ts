import { type Clock, systemClock } from '../../shared/clock.ts';
import { dayMs, dayOf } from '../../shared/day.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DayTraffic, TrafficStore } from './traffic.store.ts';

/** What traffic is counted with. */
export interface TrafficOptions {
  readonly store: TrafficStore;
  readonly clock?: Clock;
  readonly log: Logger;
}

/** So much can be lost by a crash. */
const writeIntervalMs = 10_000;
const retentionDays = 400;
/** Days that are held while the database takes nothing. */
const maxHeldDays = 3;
const maxProjects = 100_000;
/** Written in a few milliseconds. */
const projectsPerBatch = 500;

/** Counts the body bytes that viewers are sent, in memory, and writes them to the database every ten seconds while there are any, and at the end. */
export class Traffic implements Component {
  readonly name = 'traffic';
  readonly #store: TrafficStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** What is not written yet, by day and project; oldest day first. */
  readonly #unwritten = new Map<number, Map<string, DayTraffic>>();
  /** That of the day which ends at `#dayEndsAtMs`. */
  #today = new Map<string, DayTraffic>();
  #dayBeginsAtMs = Number.POSITIVE_INFINITY;
  #dayEndsAtMs = Number.NEGATIVE_INFINITY;
  readonly #flushes = new OnDemandInterval(writeIntervalMs, () => {
    const hasTraffic = [...this.#unwritten.values()].some(byProject => byProject.size > 0);
    void this.flush();
    return hasTraffic;
  });

  constructor(options: TrafficOptions) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#flushes.stop();
    await this.flush();
  }

  /** A viewer was sent so many bytes of something of a project. Never throws. */
  record(projectId: string, deliveryKind: 'live' | 'vod', bytes: number): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#dayEndsAtMs || nowMs < this.#dayBeginsAtMs) this.#startDay(dayOf(nowMs));
    let traffic = this.#today.get(projectId);
    if (traffic === undefined) {
      if (this.#today.size >= maxProjects) return;
      traffic = { liveBytes: 0, vodBytes: 0 };
      this.#today.set(projectId, traffic);
    }
    if (deliveryKind === 'live') traffic.liveBytes += bytes;
    else traffic.vodBytes += bytes;
    this.#flushes.wake();
  }

  /** What a project's viewers were sent on the days from `firstDay` on, up to this moment. */
  since(projectId: string, firstDay: number): Map<number, DayTraffic> {
    const days = this.#store.since(projectId, firstDay);
    for (const [day, byProject] of this.#unwritten) {
      const held = byProject.get(projectId);
      if (held === undefined || day < firstDay) continue;
      const written = days.get(day);
      days.set(day, {
        liveBytes: held.liveBytes + (written?.liveBytes ?? 0),
        vodBytes: held.vodBytes + (written?.vodBytes ?? 0),
      });
    }
    return days;
  }

  /** Writes what was counted until now, some projects in a turn. What the database does not take is kept for the next time. */
  async flush(): Promise<void> {
    try {
      for (const day of [...this.#unwritten.keys()]) await this.#write(day);
    } catch (error) {
      this.#log.error('traffic-not-written', { error });
    }
  }

  /** Forgets days that are longer ago than they are kept; how many rows those were. */
  removeOld(): number {
    return this.#store.removeBefore(dayOf(this.#clock.nowMs()) - retentionDays);
  }

  async #write(day: number): Promise<void> {
    const held = this.#unwritten.get(day);
    if (held === undefined) return;
    // What is counted meanwhile comes after these.
    for (let left = held.size; left > 0; left -= projectsPerBatch) {
      const some = firstEntries(held, Math.min(left, projectsPerBatch));
      this.#store.add(day, some);
      for (const projectId of some.keys()) held.delete(projectId);
      if (left > projectsPerBatch) await yieldToEventLoop();
    }
    if (held.size === 0 && held !== this.#today) this.#unwritten.delete(day);
  }

  #startDay(day: number): void {
    const known = this.#unwritten.get(day);
    this.#today = known ?? new Map();
    if (known === undefined) this.#unwritten.set(day, this.#today);
    this.#dayBeginsAtMs = day * dayMs;
    this.#dayEndsAtMs = this.#dayBeginsAtMs + dayMs;
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > maxHeldDays && oldest !== undefined) this.#unwritten.delete(oldest);
  }
}

function firstEntries<Value>(all: ReadonlyMap<string, Value>, atMost: number): Map<string, Value> {
  const some = new Map<string, Value>();
  for (const [key, value] of all) {
    if (some.size === atMost) break;
    some.set(key, value);
  }
  return some;
}
