import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { retryAtMs } from './retry-schedule.ts';
import { webhookHeaders } from './webhook-headers.ts';
import {
  type AttemptOutcome,
  type DueDelivery,
  maxExpeditedDeliveries,
  type NextStep,
  type WebhookQueue,
} from './webhook-queue.store.ts';
import { isAccepted, type WebhookResponse, type WebhookSender } from './webhook-sender.ts';

/** What the dispatcher reports of its work. */
export interface WebhookObserver {
  /** A try ended: `delivered`, `failed` (it is tried again), or `given-up`. */
  attempted(outcome: 'delivered' | 'failed' | 'given-up', durationMs: number): void;
  /** So many were given up because too many waited. */
  dropped(count: number): void;
}

/** What the dispatcher is made of. */
export interface WebhookDispatcherOptions {
  readonly queue: WebhookQueue;
  readonly sender: Pick<WebhookSender, 'send' | 'stop'>;
  /** Of this server, for `User-Agent`. */
  readonly version: string;
  /** Told when a webhook is gone, and its deliveries are to be removed. */
  readonly webhookRemoved?: () => void;
  readonly observer?: WebhookObserver;
  readonly clock?: Clock;
  readonly log: Logger;
}

interface RunningAttempt {
  readonly delivery: DueDelivery;
  readonly controller: AbortController;
}

/** What is known of a webhook while something is on its way to it. */
interface Lane {
  readonly webhookId: string;
  /** By number of the delivery; an attempt is in here until its outcome is written down. */
  readonly running: Map<number, RunningAttempt>;
  /** How many attempts it may have at once. */
  maxConcurrent: number;
  /** Its last attempt succeeded, and soon. */
  isHealthy: boolean;
  failuresInRow: number;
  /** It works again after a while: what would be tried much later is tried now. */
  isExpediting: boolean;
  /** Not before then: a receiver that refuses only some would be sent these again with each of the others. */
  expediteAtMs: number;
  /** When its next delivery is due. */
  nextDueAtMs: number;
}

const initialConcurrency = 8;
const maxConcurrency = 32;
/** A receiver that fails or is slow is asked a few at a time. */
const minConcurrency = 4;
const slowMs = 1_000;
/** Of all webhooks. */
const maxRunningAttempts = 512;
/** Of all webhooks that are not known to be well, so that those which are always find places. */
const maxUnhealthyAttempts = 256;
/** After so many failures in a row a receiver is said to be away. */
const failuresUntilUnreachable = 5;
const expediteIntervalMs = 60_000;
/** Outcomes of a moment are written together; so many take a few milliseconds. */
const maxOutcomeBatch = 50;
const flushDelayMs = 2;
const databaseRetryMs = 1_000;
const droppedLogIntervalMs = 60_000;
/** Also bounds how late a delivery is when the machine's clock was set forward. */
const maxSleepMs = 60_000;

/**
 * Sends what waits for webhooks: at least once, in order for each resource, each webhook in places of its own. What was not answered
 * when the server ends is sent again at the next start.
 */
export class WebhookDispatcher implements Component {
  readonly name = 'webhooks';
  readonly #options: WebhookDispatcherOptions;
  readonly #queue: WebhookQueue;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes that may have something due. The first has its turn first. */
  readonly #ready = new Set<Lane>();
  readonly #outcomes: { readonly lane: Lane; readonly outcome: AttemptOutcome }[] = [];
  readonly #settling = new Set<Promise<void>>();
  #state: 'new' | 'started' | 'draining' | 'stopped' = 'new';
  #running = 0;
  #runningUnproven = 0;
  #look: NodeJS.Immediate | undefined;
  #wake: NodeJS.Timeout | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #flush: NodeJS.Timeout | undefined;
  #droppedTold = 0;
  #droppedToldAtMs = Number.NEGATIVE_INFINITY;
  #unsubscribe: (() => void) | undefined;
  #idle = Promise.withResolvers<void>();

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#queue = options.queue;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    this.#state = 'started';
    this.#unsubscribe = this.#queue.onChanged(() => this.#changed());
    for (const webhookId of this.#queue.webhooksWithPending()) this.#ready.add(this.#laneOf(webhookId));
    this.scheduleDispatch();
  }

  /** Begins nothing new, and waits for the answers to what was sent. */
  async drain(): Promise<void> {
    if (this.#state === 'started') this.#state = 'draining';
    this.#dropTimers();
    if (this.#running > 0) await this.#idle.promise;
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#unsubscribe?.();
    this.#dropTimers();
    for (const lane of this.#lanes.values()) {
      for (const { controller } of lane.running.values()) controller.abort();
    }
    await Promise.all(this.#settling);
    clearTimeout(this.#flush);
    while (this.#outcomes.length > 0 && this.#write());
    this.#options.sender.stop();
  }

  /** Looks for what is due. For who has changed the clock. */
  scheduleDispatch(): void {
    if (this.#state !== 'started') return;
    this.#look ??= setImmediate(() => {
      this.#look = undefined;
      try {
        this.#startDue();
      } catch (error) {
        this.#log.error('webhooks-look-failed', { error });
        this.#wakeAt(this.#clock.nowMs() + databaseRetryMs);
      }
    });
  }

  #changed(): void {
    for (const webhookId of this.#queue.takeChangedWebhooks()) {
      const lane = this.#laneOf(webhookId);
      lane.nextDueAtMs = 0;
      this.#ready.add(lane);
    }
    const removed = this.#queue.takeRemovedWebhooks();
    for (const webhookId of removed) {
      const lane = this.#lanes.get(webhookId);
      if (lane === undefined) continue;
      for (const { controller } of lane.running.values()) controller.abort();
      this.#ready.add(lane);
    }
    if (removed.length > 0) this.#options.webhookRemoved?.();
    this.#tellDropped();
    this.scheduleDispatch();
  }

  #laneOf(webhookId: string): Lane {
    let lane = this.#lanes.get(webhookId);
    if (lane === undefined) {
      lane = {
        webhookId,
        running: new Map(),
        maxConcurrent: initialConcurrency,
        isHealthy: false,
        failuresInRow: 0,
        isExpediting: false,
        expediteAtMs: 0,
        nextDueAtMs: 0,
      };
      this.#lanes.set(webhookId, lane);
    }
    return lane;
  }

  // ------------------------------------------------------------------------------------------------ begin

  #startDue(): void {
    const nowMs = this.#clock.nowMs();
    for (const lane of this.#lanes.values()) if (lane.nextDueAtMs <= nowMs) this.#ready.add(lane);
    for (const lane of [...this.#ready]) {
      const left = Math.min(
        maxRunningAttempts - this.#running,
        lane.isHealthy ? Number.POSITIVE_INFINITY : maxUnhealthyAttempts - this.#runningUnproven,
      );
      if (left <= 0) continue;
      this.#startOf(lane, left, nowMs);
    }
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (!this.#ready.has(lane)) nextAtMs = Math.min(nextAtMs, lane.nextDueAtMs);
    }
    this.#wakeAt(nextAtMs);
  }

  /** Begins what is due of a webhook, as many as may run beside those that run; `left` is what all webhooks leave. */
  #startOf(lane: Lane, left: number, nowMs: number): void {
    this.#ready.delete(lane);
    lane.nextDueAtMs = Number.POSITIVE_INFINITY;
    const places = lane.maxConcurrent - lane.running.size;
    // Looked at again when one of its own ends.
    if (places <= 0) return;
    if (lane.isExpediting && nowMs >= lane.expediteAtMs) {
      lane.isExpediting =
        this.#queue.expedite(lane.webhookId, nowMs, maxExpeditedDeliveries) === maxExpeditedDeliveries;
      if (!lane.isExpediting) lane.expediteAtMs = nowMs + expediteIntervalMs;
    }
    // Those that run are still due in the database.
    const due = this.#queue
      .due(lane.webhookId, nowMs, places + lane.running.size + 1)
      .filter(delivery => !lane.running.has(delivery.number));
    const begun = due.slice(0, Math.min(places, left));
    for (const delivery of begun) this.#begin(lane, delivery);
    if (due.length > begun.length) {
      // At the end of the row: when there are places again, others have their turn first.
      this.#ready.add(lane);
      return;
    }
    const next = this.#queue.nextDueAtMs(lane.webhookId, nowMs);
    lane.nextDueAtMs = Math.min(
      next ?? Number.POSITIVE_INFINITY,
      lane.isExpediting ? lane.expediteAtMs : Number.POSITIVE_INFINITY,
    );
    if (next === undefined && lane.running.size === 0) this.#lanes.delete(lane.webhookId);
  }

  #begin(lane: Lane, delivery: DueDelivery): void {
    const attempt: RunningAttempt = { delivery, controller: new AbortController() };
    if (this.#running === 0) this.#idle = Promise.withResolvers();
    this.#running += 1;
    if (!lane.isHealthy) this.#runningUnproven += 1;
    const isUnproven = !lane.isHealthy;
    lane.running.set(delivery.number, attempt);
    const settled = this.#attempt(lane, attempt).finally(() => {
      if (isUnproven) this.#runningUnproven -= 1;
      this.#settling.delete(settled);
    });
    this.#settling.add(settled);
  }

  async #attempt(lane: Lane, { delivery, controller }: RunningAttempt): Promise<void> {
    const attemptedAtMs = this.#clock.nowMs();
    const beganMs = this.#clock.monotonicMs();
    const answer = await this.#options.sender.send({
      url: delivery.url,
      headers: webhookHeaders(delivery, attemptedAtMs, this.#options.version),
      body: delivery.body,
      signal: controller.signal,
    });
    if (controller.signal.aborted) {
      this.#over(lane, delivery);
      return;
    }
    const durationMs = Math.max(0, Math.round(this.#clock.monotonicMs() - beganMs));
    const outcome: AttemptOutcome = {
      delivery,
      record: { attemptedAtMs, durationMs, ...answer },
      next: this.#nextOf(delivery, answer, attemptedAtMs),
    };
    this.#outcomes.push({ lane, outcome });
    if (this.#state !== 'stopped') this.#flush ??= setTimeout(() => this.#flushSome(), flushDelayMs);
  }

  #nextOf(delivery: DueDelivery, answer: WebhookResponse, attemptedAtMs: number): NextStep {
    if (isAccepted(answer)) return 'succeeded';
    const times = {
      firstAttemptAtMs: delivery.firstAttemptAtMs ?? attemptedAtMs,
      nowMs: this.#clock.nowMs(),
    };
    const atMs = retryAtMs(delivery.attempts + 1, times, Math.random());
    return atMs === undefined ? 'failed' : { retryAtMs: atMs };
  }

  // ------------------------------------------------------------------------------------------------ end

  #flushSome(): void {
    this.#flush = undefined;
    const isWritten = this.#write();
    if (this.#outcomes.length > 0) {
      this.#flush = setTimeout(() => this.#flushSome(), isWritten ? 0 : databaseRetryMs);
    }
    this.scheduleDispatch();
  }

  /** Writes outcomes down; until that is done, an attempt keeps its place and is not begun again. */
  #write(): boolean {
    const batch = this.#outcomes.slice(0, maxOutcomeBatch);
    try {
      this.#queue.record(batch.map(({ outcome }) => outcome));
    } catch (error) {
      this.#log.error('webhook-outcomes-not-written', { count: batch.length, error });
      return false;
    }
    this.#outcomes.splice(0, batch.length);
    for (const { lane, outcome } of batch) {
      this.#learn(lane, outcome);
      this.#over(lane, outcome.delivery);
    }
    return true;
  }

  #over(lane: Lane, delivery: DueDelivery): void {
    lane.running.delete(delivery.number);
    lane.nextDueAtMs = 0;
    this.#running -= 1;
    if (this.#running === 0) this.#idle.resolve();
    this.#ready.add(lane);
    this.scheduleDispatch();
  }

  /** What an outcome says of the receiver. */
  #learn(lane: Lane, { delivery, record, next }: AttemptOutcome): void {
    const { webhookId } = lane;
    const what = { webhookId, deliveryId: delivery.deliveryId, attempt: delivery.attempts + 1 };
    const why = { status: record.statusCode, failure: record.error };
    const isDelivered = next === 'succeeded';
    const isProven = isDelivered && record.durationMs < slowMs;
    lane.maxConcurrent = isProven
      ? Math.min(maxConcurrency, lane.maxConcurrent + 1)
      : Math.max(minConcurrency, Math.floor(lane.maxConcurrent / 2));
    lane.isHealthy = isProven;
    if (isDelivered) {
      if (lane.failuresInRow >= failuresUntilUnreachable) {
        lane.isExpediting = true;
        this.#log.info('webhook-answers-again', { webhookId });
      }
      lane.failuresInRow = 0;
      this.#log.debug('webhook-delivered', what);
    } else {
      lane.failuresInRow += 1;
      if (lane.failuresInRow === failuresUntilUnreachable)
        this.#log.warn('webhook-fails', { webhookId, ...why });
      if (next === 'failed') this.#log.warn('webhook-delivery-given-up', { ...what, ...why });
      else this.#log.debug('webhook-attempt-failed', { ...what, ...why });
    }
    const outcome = isDelivered ? 'delivered' : next === 'failed' ? 'given-up' : 'failed';
    this.#options.observer?.attempted(outcome, record.durationMs);
  }

  #tellDropped(): void {
    const count = this.#queue.dropped - this.#droppedTold;
    const nowMs = this.#clock.monotonicMs();
    if (count === 0 || nowMs - this.#droppedToldAtMs < droppedLogIntervalMs) return;
    this.#droppedTold = this.#queue.dropped;
    this.#droppedToldAtMs = nowMs;
    this.#log.warn('webhook-deliveries-dropped', { count });
    this.#options.observer?.dropped(count);
  }

  // ------------------------------------------------------------------------------------------------ time

  #wakeAt(atMs: number): void {
    if (this.#wake !== undefined && this.#wakeAtMs === atMs) return;
    clearTimeout(this.#wake);
    this.#wake = undefined;
    this.#wakeAtMs = atMs;
    if (atMs === Number.POSITIVE_INFINITY || this.#state !== 'started') return;
    const delayMs = Math.min(Math.max(atMs - this.#clock.nowMs(), 1), maxSleepMs);
    this.#wake = setTimeout(() => {
      this.#wake = undefined;
      this.scheduleDispatch();
    }, delayMs);
  }

  #dropTimers(): void {
    clearImmediate(this.#look);
    this.#look = undefined;
    clearTimeout(this.#wake);
    this.#wake = undefined;
  }
}
