import { type Clock, systemClock } from '../../shared/clock.ts';
import { dayMs, dayOf } from '../../shared/day.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { CommitOnce } from '../../store/commit-once.ts';
import type { DayTraffic, TrafficStore } from './traffic.store.ts';

interface TrafficOptions {
  readonly store: TrafficStore;
  readonly clock?: Clock;
  readonly log: Logger;
}

interface TrafficAddition {
  readonly held: Map<string, DayTraffic>;
  readonly some: ReadonlyMap<string, DayTraffic>;
  readonly commit: CommitOnce;
}

/** A crash loses at most this much. */
const writeIntervalMs = 10_000;
const retentionDays = 400;
/** Days that are kept while the database cannot be written. */
const maxHeldDays = 3;
const maxProjects = 100_000;
const projectsPerBatch = 500;

/** Counts body bytes sent to viewers, and writes them every ten seconds and at the stop. */
export class Traffic implements Component {
  readonly name = 'traffic';
  readonly #store: TrafficStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Traffic by day and project, oldest day first. */
  readonly #unwritten = new Map<number, Map<string, DayTraffic>>();
  #today = new Map<string, DayTraffic>();
  #dayBeginsAtMs = Number.POSITIVE_INFINITY;
  #dayEndsAtMs = Number.NEGATIVE_INFINITY;
  #addition: TrafficAddition | undefined;
  #flushing: Promise<void> = Promise.resolve();
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

  /** Never throws. */
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

  /** Includes traffic that is not written yet. */
  async since(projectId: string, firstDay: number): Promise<Map<number, DayTraffic>> {
    const days = await this.#store.since(projectId, firstDay);
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

  /** Writes in batches. Keeps what the database does not accept for the next time. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#writeAll());
    return this.#flushing;
  }

  removeOld(): Promise<number> {
    return this.#store.removeBefore(dayOf(this.#clock.nowMs()) - retentionDays);
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#finishAddition();
      for (const day of [...this.#unwritten.keys()]) await this.#write(day);
    } catch (error) {
      this.#log.error('traffic-not-written', { error });
    }
  }

  async #write(day: number): Promise<void> {
    const held = this.#unwritten.get(day);
    if (held === undefined) return;
    // Entries that are added meanwhile come after these.
    for (let left = held.size; left > 0; left -= projectsPerBatch) {
      const some = copyFirst(held, Math.min(left, projectsPerBatch));
      this.#addition = { held, some, commit: this.#store.addition(day, some) };
      await this.#finishAddition();
      if (left > projectsPerBatch) await yieldToEventLoop();
    }
    if (held.size === 0 && held !== this.#today) this.#unwritten.delete(day);
  }

  /** Repeats the one that failed first, unchanged: it may be stored. */
  async #finishAddition(): Promise<void> {
    if (this.#addition === undefined) return;
    const { held, some, commit } = this.#addition;
    await commit.run();
    subtract(held, some);
    this.#addition = undefined;
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

function copyFirst(all: ReadonlyMap<string, DayTraffic>, max: number): Map<string, DayTraffic> {
  const some = new Map<string, DayTraffic>();
  for (const [projectId, traffic] of all) {
    if (some.size === max) break;
    some.set(projectId, { ...traffic });
  }
  return some;
}

/** Keeps what was recorded during the write. */
function subtract(held: Map<string, DayTraffic>, written: ReadonlyMap<string, DayTraffic>): void {
  for (const [projectId, { liveBytes, vodBytes }] of written) {
    const traffic = held.get(projectId);
    if (traffic === undefined) continue;
    traffic.liveBytes -= liveBytes;
    traffic.vodBytes -= vodBytes;
    if (traffic.liveBytes === 0 && traffic.vodBytes === 0) held.delete(projectId);
  }
}
