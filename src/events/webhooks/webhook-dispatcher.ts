import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { CoalescedTask } from '../../shared/scheduling/coalesced-task.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { webhookHeaders } from './webhook-headers.ts';
import {
  createLane,
  type Lane,
  nextStep,
  type RunningAttempt,
  updateLane,
  type WebhookObserver,
} from './webhook-lane.ts';
import {
  type AttemptOutcome,
  type DueDelivery,
  maxExpeditedDeliveries,
  type WebhookQueue,
} from './webhook-queue.store.ts';
import type { WebhookSender } from './webhook-sender.ts';

/** Decides which server sends: only one at a time. */
export interface WebhookLeaderLease {
  readonly isLeader: boolean;
  on(listeners: { readonly take: () => void; readonly leave: () => Promise<void> | void }): void;
}

interface WebhookDispatcherOptions {
  readonly queue: WebhookQueue;
  readonly leaderLease: WebhookLeaderLease;
  readonly sender: Pick<WebhookSender, 'send' | 'stop'>;
  readonly version: string;
  readonly webhookRemoved?: () => void;
  readonly observer?: WebhookObserver;
  readonly clock?: Clock;
  /** Offset of the database clock from `nowMs()`; deliveries are due by it. Default: 0. */
  readonly clockOffsetMs?: (nowMs: () => number) => Promise<number>;
  readonly log: Logger;
}

const maxRunningAttempts = 512;
/** Attempts of all unhealthy webhooks, which must never block healthy ones. */
const maxUnhealthyAttempts = 256;
const expediteIntervalMs = 60_000;
const databaseRetryMs = 1_000;
/** Grace period, shorter than the time between the loss of a lease and the end of it. */
const leaveGraceMs = 3_000;
const droppedLogIntervalMs = 60_000;
/** Signals of other servers may be lost, and the system clock may be set forward. */
const reloadIntervalMs = 30_000;

/** Delivers at least once, in order per resource, with separate concurrency limits per webhook. */
export class WebhookDispatcher implements Component {
  readonly name = 'webhooks';
  readonly #options: WebhookDispatcherOptions;
  readonly #queue: WebhookQueue;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lanes = new Map<string, Lane>();
  readonly #ready = new Set<Lane>();
  readonly #dispatching = new CoalescedTask(() => this.#dispatch());
  readonly #outcomes: OutcomeWriter;
  readonly #settling = new Set<Promise<void>>();
  #state: 'new' | 'started' | 'draining' | 'stopped' = 'new';
  #running = 0;
  #runningUnhealthy = 0;
  #wakeTimer: NodeJS.Timeout | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #reportedDropped = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #unsubscribe: (() => void) | undefined;
  #isLeader = false;
  /** Monotonic time. */
  #reloadAtMs = Number.NEGATIVE_INFINITY;
  /** Added to the clock of this server, it gives that of the database. */
  #clockOffsetMs = 0;
  #idle = Promise.withResolvers<void>();

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#queue = options.queue;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
    this.#outcomes = new OutcomeWriter(options.queue, {
      stored: ({ lane, outcome }) => {
        updateLane(lane, outcome, options);
        this.#endAttempt(lane, outcome.delivery);
      },
      settled: () => this.scheduleDispatch(),
      log: options.log,
    });
  }

  async start(): Promise<void> {
    this.#state = 'started';
    this.#unsubscribe = this.#queue.watch({
      changed: webhookId => this.#handleChange(webhookId),
      removed: webhookId => this.#handleRemoval(webhookId),
    });
    this.#options.leaderLease.on({ take: () => this.#take(), leave: () => this.#leave(leaveGraceMs) });
  }

  async drain(): Promise<void> {
    if (this.#state === 'started') this.#state = 'draining';
    this.#clearTimers();
    await this.#dispatching.idle();
    if (this.#running > 0) await this.#idle.promise;
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#unsubscribe?.();
    this.#outcomes.stop();
    await this.#leave(0);
    this.#options.sender.stop();
  }

  scheduleDispatch(): void {
    if (this.#canSend) this.#dispatching.request();
  }

  /** Checks the lease, too: a server that was suspended may learn late that another one has taken it. */
  get #canSend(): boolean {
    return this.#state === 'started' && this.#isLeader && this.#options.leaderLease.isLeader;
  }

  #nowMs(): number {
    return this.#clock.nowMs() + this.#clockOffsetMs;
  }

  #take(): void {
    if (this.#isLeader || this.#state !== 'started') return;
    this.#isLeader = true;
    this.#reloadAtMs = Number.NEGATIVE_INFINITY;
    this.scheduleDispatch();
  }

  /**
   * Starts nothing more, and resolves when all attempts have ended or, after `graceMs`, were aborted. Aborted deliveries
   * stay due for the server that takes over.
   */
  async #leave(graceMs: number): Promise<void> {
    this.#isLeader = false;
    this.#clearTimers();
    await this.#dispatching.idle();
    const abort = setTimeout(() => this.#abortAll(), graceMs);
    await Promise.all(this.#settling);
    clearTimeout(abort);
    await this.#outcomes.flush();
    if (this.#isLeader) return;
    this.#ready.clear();
    for (const lane of this.#lanes.values()) if (lane.running.size === 0) this.#lanes.delete(lane.webhookId);
  }

  #abortAll(): void {
    for (const lane of this.#lanes.values()) {
      for (const { controller } of lane.running.values()) controller.abort();
    }
  }

  async #dispatch(): Promise<void> {
    try {
      await this.#dispatchDue();
    } catch (error) {
      this.#log.error('webhook-dispatch-failed', { error });
      this.#wakeAt(this.#nowMs() + databaseRetryMs);
    }
  }

  #handleChange(webhookId: string | undefined): void {
    this.#reportDropped();
    if (!this.#isLeader) return;
    if (webhookId === undefined) this.#reloadAtMs = Number.NEGATIVE_INFINITY;
    else this.#wakeLane(this.#laneOf(webhookId));
    this.scheduleDispatch();
  }

  #handleRemoval(webhookId: string | undefined): void {
    if (this.#isLeader) this.#options.webhookRemoved?.();
    const lane = webhookId === undefined ? undefined : this.#lanes.get(webhookId);
    if (lane === undefined) return;
    lane.isRemoved = true;
    for (const { controller } of lane.running.values()) controller.abort();
    this.#ready.add(lane);
    this.scheduleDispatch();
  }

  #wakeLane(lane: Lane): void {
    lane.nextDueAtMs = 0;
    this.#ready.add(lane);
  }

  async #reload(): Promise<void> {
    this.#reloadAtMs = this.#clock.monotonicMs() + reloadIntervalMs;
    try {
      this.#clockOffsetMs = (await this.#options.clockOffsetMs?.(() => this.#clock.nowMs())) ?? 0;
      for (const webhookId of await this.#queue.webhooksWithPending())
        this.#wakeLane(this.#laneOf(webhookId));
    } catch (error) {
      this.#reloadAtMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (lane === undefined) {
      lane = createLane(webhookId);
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }

  async #dispatchDue(): Promise<void> {
    if (this.#clock.monotonicMs() >= this.#reloadAtMs) await this.#reload();
    const nowMs = this.#nowMs();
    for (const lane of this.#lanes.values()) if (lane.nextDueAtMs <= nowMs) this.#ready.add(lane);
    for (const lane of [...this.#ready]) {
      const remaining = Math.min(
        maxRunningAttempts - this.#running,
        lane.isHealthy ? Number.POSITIVE_INFINITY : maxUnhealthyAttempts - this.#runningUnhealthy,
      );
      if (remaining <= 0) continue;
      try {
        await this.#dispatchLane(lane, remaining, nowMs);
      } catch (error) {
        this.#ready.add(lane);
        throw error;
      }
    }
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (!this.#ready.has(lane)) nextAtMs = Math.min(nextAtMs, lane.nextDueAtMs);
    }
    this.#wakeAt(Math.min(nextAtMs, nowMs + reloadIntervalMs));
  }

  /** @param remaining concurrency limit of all webhooks */
  async #dispatchLane(lane: Lane, remaining: number, nowMs: number): Promise<void> {
    this.#ready.delete(lane);
    lane.nextDueAtMs = Number.POSITIVE_INFINITY;
    if (lane.isRemoved) {
      if (lane.running.size === 0) this.#lanes.delete(lane.webhookId);
      return;
    }
    const available = lane.maxConcurrent - lane.running.size;
    if (available <= 0) return;
    if (lane.isExpediting && nowMs >= lane.expediteAtMs) {
      const expedited = await this.#queue.expedite(lane.webhookId, nowMs, maxExpeditedDeliveries);
      lane.isExpediting = expedited === maxExpeditedDeliveries;
      if (!lane.isExpediting) lane.expediteAtMs = nowMs + expediteIntervalMs;
    }
    // Running deliveries are still due in the database, and those that end during the query may be in its result.
    const running = new Set(lane.running.keys());
    const found = await this.#queue.due(lane.webhookId, nowMs, available + running.size + 1);
    if (!this.#canSend || lane.isRemoved) return;
    const due = found.filter(({ number }) => !running.has(number));
    const started = due.slice(0, Math.min(available, remaining));
    for (const delivery of started) this.#startAttempt(lane, delivery);
    if (due.length > started.length) {
      this.#ready.add(lane);
      return;
    }
    const next = await this.#queue.nextDueAtMs(lane.webhookId, nowMs);
    // Skips a lane that changed during the query.
    if (this.#ready.has(lane)) return;
    lane.nextDueAtMs = Math.min(
      next ?? Number.POSITIVE_INFINITY,
      lane.isExpediting ? lane.expediteAtMs : Number.POSITIVE_INFINITY,
    );
    if (next === undefined && lane.running.size === 0) this.#lanes.delete(lane.webhookId);
  }

  #startAttempt(lane: Lane, delivery: DueDelivery): void {
    const attempt: RunningAttempt = { delivery, controller: new AbortController() };
    if (this.#running === 0) this.#idle = Promise.withResolvers();
    this.#running += 1;
    if (!lane.isHealthy) this.#runningUnhealthy += 1;
    const isUnhealthy = !lane.isHealthy;
    lane.running.set(delivery.number, attempt);
    const settled = this.#attempt(lane, attempt).finally(() => {
      if (isUnhealthy) this.#runningUnhealthy -= 1;
      this.#settling.delete(settled);
    });
    this.#settling.add(settled);
  }

  async #attempt(lane: Lane, { delivery, controller }: RunningAttempt): Promise<void> {
    const attemptedAtMs = this.#nowMs();
    const startedMs = this.#clock.monotonicMs();
    const answer = await this.#options.sender.send({
      url: delivery.url,
      headers: webhookHeaders(delivery, attemptedAtMs, this.#options.version),
      body: delivery.body,
      signal: controller.signal,
    });
    if (controller.signal.aborted) {
      this.#endAttempt(lane, delivery);
      return;
    }
    const durationMs = Math.max(0, Math.round(this.#clock.monotonicMs() - startedMs));
    const outcome: AttemptOutcome = {
      delivery,
      record: { attemptedAtMs, durationMs, ...answer },
      next: nextStep(delivery, answer, { attemptedAtMs, nowMs: this.#nowMs() }),
    };
    this.#outcomes.add({ lane, outcome });
  }

  #endAttempt(lane: Lane, delivery: DueDelivery): void {
    lane.running.delete(delivery.number);
    lane.nextDueAtMs = 0;
    this.#running -= 1;
    if (this.#running === 0) this.#idle.resolve();
    this.#ready.add(lane);
    this.scheduleDispatch();
  }

  #reportDropped(): void {
    const count = this.#queue.dropped - this.#reportedDropped;
    const nowMs = this.#clock.monotonicMs();
    if (count === 0 || nowMs - this.#reportedAtMs < droppedLogIntervalMs) return;
    this.#reportedDropped = this.#queue.dropped;
    this.#reportedAtMs = nowMs;
    this.#log.warn('webhook-deliveries-dropped', { count });
    this.#options.observer?.dropped(count);
  }

  #wakeAt(atMs: number): void {
    if (this.#wakeTimer !== undefined && this.#wakeAtMs === atMs) return;
    clearTimeout(this.#wakeTimer);
    this.#wakeTimer = undefined;
    this.#wakeAtMs = atMs;
    if (!this.#canSend) return;
    const delayMs = Math.min(Math.max(atMs - this.#nowMs(), 1), reloadIntervalMs);
    this.#wakeTimer = setTimeout(() => {
      this.#wakeTimer = undefined;
      this.scheduleDispatch();
    }, delayMs);
  }

  #clearTimers(): void {
    this.#dispatching.cancel();
    clearTimeout(this.#wakeTimer);
    this.#wakeTimer = undefined;
  }
}
