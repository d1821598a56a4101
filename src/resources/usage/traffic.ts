import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { dayMs, dayOf } from '../../shared/day.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/on-demand-interval.ts';
import type { DayTraffic, TrafficStore } from './traffic.store.ts';

/** What traffic is counted with. */
export interface TrafficOptions {
  readonly store: TrafficStore;
  readonly clock?: Clock;
  readonly log: Logger;
}

/** So much can be lost by a crash. */
const writeEveryMs = 10_000;
const daysKept = 400;
/** Days that are held while the database takes nothing. */
const heldDaysAtMost = 3;
const projectsAtMost = 100_000;
/** Written in a few milliseconds. */
const projectsInATurn = 500;

/** Counts the body bytes that viewers are sent, in memory, and writes them to the database every ten seconds while there are any, and at the end. */
export class Traffic implements Component {
  readonly name = 'traffic';
  readonly #store: TrafficStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** What is not written yet, by day and project; oldest day first. */
  readonly #held = new Map<number, Map<string, DayTraffic>>();
  /** That of the day which ends at `#dayEndsAtMs`. */
  #today = new Map<string, DayTraffic>();
  #dayBeginsAtMs = Number.POSITIVE_INFINITY;
  #dayEndsAtMs = Number.NEGATIVE_INFINITY;
  readonly #flushes = new OnDemandInterval(writeEveryMs, () => {
    const hasTraffic = [...this.#held.values()].some(byProject => byProject.size > 0);
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
  sent(projectId: string, river: 'live' | 'vod', bytes: number): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#dayEndsAtMs || nowMs < this.#dayBeginsAtMs) this.#turnTo(dayOf(nowMs));
    let traffic = this.#today.get(projectId);
    if (traffic === undefined) {
      if (this.#today.size >= projectsAtMost) return;
      traffic = { liveBytes: 0, vodBytes: 0 };
      this.#today.set(projectId, traffic);
    }
    if (river === 'live') traffic.liveBytes += bytes;
    else traffic.vodBytes += bytes;
    this.#flushes.wake();
  }

  /** What a project's viewers were sent on the days from `firstDay` on, up to this moment. */
  since(projectId: string, firstDay: number): Map<number, DayTraffic> {
    const days = this.#store.since(projectId, firstDay);
    for (const [day, byProject] of this.#held) {
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
      for (const day of [...this.#held.keys()]) await this.#write(day);
    } catch (error) {
      this.#log.error('traffic-not-written', { error });
    }
  }

  /** Forgets days that are longer ago than they are kept; how many rows those were. */
  removeOld(): number {
    return this.#store.removeBefore(dayOf(this.#clock.nowMs()) - daysKept);
  }

  async #write(day: number): Promise<void> {
    const held = this.#held.get(day);
    if (held === undefined) return;
    // What is counted meanwhile comes after these.
    for (let left = held.size; left > 0; left -= projectsInATurn) {
      const some = firstOf(held, Math.min(left, projectsInATurn));
      this.#store.add(day, some);
      for (const projectId of some.keys()) held.delete(projectId);
      if (left > projectsInATurn) await nextTurn();
    }
    if (held.size === 0 && held !== this.#today) this.#held.delete(day);
  }

  #turnTo(day: number): void {
    const known = this.#held.get(day);
    this.#today = known ?? new Map();
    if (known === undefined) this.#held.set(day, this.#today);
    this.#dayBeginsAtMs = day * dayMs;
    this.#dayEndsAtMs = this.#dayBeginsAtMs + dayMs;
    const [oldest] = this.#held.keys();
    if (this.#held.size > heldDaysAtMost && oldest !== undefined) this.#held.delete(oldest);
  }
}

function firstOf<Value>(all: ReadonlyMap<string, Value>, atMost: number): Map<string, Value> {
  const some = new Map<string, Value>();
  for (const [key, value] of all) {
    if (some.size === atMost) break;
    some.set(key, value);
  }
  return some;
}
