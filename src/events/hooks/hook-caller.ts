import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import { maxEntries } from '../../shared/lru-limit.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { eventBody } from '../event-catalogue.ts';
import { webhookHeaders } from '../webhooks/webhook-headers.ts';
import { maxKeptResponseBytes, type WebhookSender } from '../webhooks/webhook-sender.ts';
import type { Hook, HookError, HookKind, HookResult } from './hook.ts';
import { type HookAnswer, type HookResponse, maxAnswerBytes, readHookAnswer } from './hook-answer.ts';

export interface HookQuestion {
  /** Id of the live stream or video. */
  readonly subjectId: string;
  readonly remoteAddress: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Cancels the question; its answer is then meaningless. */
  readonly signal: AbortSignal;
  /** Returns why an answer that allows cannot be followed: then it refuses, with this text. */
  readonly findFault?: (fields: Readonly<Record<string, unknown>>) => Promise<string | undefined>;
}

export interface HookObserver {
  /** @param durationMs time that the publisher or viewer waited */
  requested(kind: HookKind, outcome: HookAnswer['kind'], durationMs: number): void;
}

interface HookCallerOptions {
  readonly sender: Pick<WebhookSender, 'send'>;
  readonly results: { add(hookId: string, result: HookResult): void };
  readonly observer: HookObserver;
  readonly version: string;
  readonly clock: Clock;
}

/** Requests of one hook. */
interface Lane {
  readonly url: string;
  readonly limit: ConcurrencyLimit;
  failuresInRow: number;
  pausedUntilMs: number;
}

/** Requests of one hook, so that a slow one holds up no other. */
const maxRunning = 32;
const maxWaiting = 1_000;
/**
 * Failures in a row after which the hook is skipped for a while, so that nobody waits for a server that is down.
 */
const maxFailuresInRow = 5;
const pauseMs = 5_000;
const maxLanes = 10_000;

/** Asks hooks with signed requests, and keeps the results. */
export class HookCaller {
  readonly #options: HookCallerOptions;
  /** Lanes by hook. */
  readonly #lanes = new LRUCache<string, Lane>(maxEntries(maxLanes));

  constructor(options: HookCallerOptions) {
    this.#options = options;
  }

  async ask(hook: Hook, question: HookQuestion): Promise<HookAnswer> {
    const { observer, clock } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const lane = this.#laneOf(hook);
    const pausedMs = lane.pausedUntilMs - askedAtMs;
    const response =
      pausedMs > 0
        ? failed({
            code: 'paused',
            text: `The hook failed ${lane.failuresInRow} times in a row. It is called again in a few seconds.`,
          })
        : await this.#askInTurn(hook, question, lane);
    const answer = await followable(readHookAnswer(response), question);
    // Ignores the answer for a publisher or viewer that has left: the request was cancelled, or its answer reaches
    // nobody.
    if (question.signal.aborted) return answer;
    if (pausedMs <= 0) this.#count(lane, answer);
    observer.requested(hook.kind, answer.kind, clock.monotonicMs() - askedAtMs);
    this.#keep(hook, question, response, answer, { askedAtMs, isTest: false });
    return answer;
  }

  /** Asks at once, also while the hook is paused, and returns what is kept of it. */
  async test(hook: Hook, question: HookQuestion): Promise<HookResult> {
    const askedAtMs = this.#options.clock.monotonicMs();
    const response = await this.#send(hook, question, hook.timeoutMs);
    const answer = readHookAnswer(response);
    if (answer.kind !== 'failed') this.#count(this.#laneOf(hook), answer);
    return this.#keep(hook, question, response, answer, { askedAtMs, isTest: true });
  }

  #laneOf({ hookId, url }: Hook): Lane {
    const known = this.#lanes.get(hookId);
    if (known?.url === url) return known;
    const lane: Lane = {
      url,
      limit: new ConcurrencyLimit(maxRunning),
      failuresInRow: 0,
      pausedUntilMs: Number.NEGATIVE_INFINITY,
    };
    this.#lanes.set(hookId, lane);
    return lane;
  }

  /** The timeout includes the wait: those before began earlier, so that they have ended by then. */
  async #askInTurn(hook: Hook, question: HookQuestion, { limit }: Lane): Promise<HookResponse> {
    const { clock } = this.#options;
    if (limit.waitingCount >= maxWaiting) return failed(tooBusy);
    const deadlineMs = clock.monotonicMs() + hook.timeoutMs;
    const isQueued = limit.isBusy;
    return limit.run(async () => {
      const timeoutMs = isQueued ? Math.floor(deadlineMs - clock.monotonicMs()) : hook.timeoutMs;
      if (timeoutMs <= 0 || question.signal.aborted) return failed(tooBusy);
      return this.#send(hook, question, timeoutMs);
    });
  }

  #send(hook: Hook, { payload, signal }: HookQuestion, timeoutMs: number): Promise<HookResponse> {
    const { sender, version, clock } = this.#options;
    const { hookId, kind, url, signatureSecret } = hook;
    const nowMs = clock.nowMs();
    const body = JSON.stringify(eventBody({ type: `hook.${kind}`, createdAtMs: nowMs, payload }));
    const signed = { deliveryId: newId('delivery_'), webhookId: hookId, signatureSecret, body };
    return sender.send({
      url,
      body,
      signal,
      timeoutMs,
      maxResponseBytes: maxAnswerBytes,
      headers: webhookHeaders({ ...signed, eventNumber: undefined }, nowMs, version),
    });
  }

  #count(lane: Lane, { kind }: HookAnswer): void {
    if (kind !== 'failed') {
      lane.failuresInRow = 0;
      lane.pausedUntilMs = Number.NEGATIVE_INFINITY;
      return;
    }
    lane.failuresInRow += 1;
    if (lane.failuresInRow >= maxFailuresInRow) {
      lane.pausedUntilMs = this.#options.clock.monotonicMs() + pauseMs;
    }
  }

  #keep(
    { hookId, onFailure }: Hook,
    { subjectId, remoteAddress }: HookQuestion,
    { statusCode, response }: HookResponse,
    answer: HookAnswer,
    { askedAtMs, isTest }: { readonly askedAtMs: number; readonly isTest: boolean },
  ): HookResult {
    const { clock, results } = this.#options;
    const durationMs = Math.max(0, Math.round(clock.monotonicMs() - askedAtMs));
    const error = answer.kind === 'allowed' ? undefined : answer.error;
    const result: HookResult = {
      durationMs,
      isTest,
      subjectId,
      remoteAddress,
      statusCode,
      attemptedAtMs: clock.nowMs() - durationMs,
      isAllowed: answer.kind === 'failed' ? onFailure === 'allow' : answer.kind === 'allowed',
      error: error?.text,
      errorCode: error?.code,
      response: response?.slice(0, maxKeptResponseBytes),
    };
    results.add(hookId, result);
    return result;
  }
}

async function followable(answer: HookAnswer, { findFault }: HookQuestion): Promise<HookAnswer> {
  const fault = answer.kind === 'allowed' ? await findFault?.(answer.fields) : undefined;
  if (fault === undefined) return answer;
  return { kind: 'refused', message: fault, error: { code: 'response-unusable', text: fault } };
}

const tooBusy: HookError = {
  code: 'busy',
  text: `${maxRunning} requests to this hook were waiting for a response, and none arrived in time.`,
};

function failed(error: HookError): HookResponse {
  return { statusCode: undefined, error, response: undefined };
}
