import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import type { ViewerSignal } from '../../shared/viewer-responses.ts';
import type { Exchange } from './exchange.ts';
import { type HeldRequest, HeldRequests } from './held-requests.ts';
import type { ResponseSender } from './response-sender.ts';
import { SharedWait } from './shared-wait.ts';
import { ViewerAbort } from './viewer-abort.ts';

type Send<Answer> = (answer: Answer) => Promise<void> | void;

/** Time after which other requests are served between the responses to a crowd. */
const maxSendingMs = 8;

export class PendingResponses {
  readonly #sender: ResponseSender;
  readonly #log: Logger;
  readonly #unavailable: ThrottledLog;
  readonly #held: HeldRequests;
  /** Shared waits by URL. */
  readonly #shared = new Map<string, SharedWait<never>>();

  constructor(sender: ResponseSender, log: Logger) {
    this.#sender = sender;
    this.#log = log;
    this.#unavailable = new ThrottledLog(log);
    this.#held = new HeldRequests(exchange =>
      sender.sendError(exchange, 503, 'The server is shutting down.', 'no-store'),
    );
  }

  /** Handles the failure of both `pending` and `send`. Sends at once what is no promise. */
  hold<Answer>(exchange: Exchange, pending: Promise<Answer> | Answer, send: Send<Answer>): void {
    if (!(pending instanceof Promise)) {
      this.watch(exchange, send(pending));
      return;
    }
    const abort = new ViewerAbort();
    const held = this.#hold(exchange, abort);
    if (held === undefined) {
      pending.catch(() => {});
      return;
    }
    pending
      .then(answer => (this.#held.release(held) ? send(answer) : undefined))
      .catch((error: unknown) => {
        if (!abort.aborted) this.fail(exchange, error);
      });
  }

  /**
   * Holds as {@link hold} does, once for all requests of a URL that wait at the same time.
   * @param start for the first of them; its signal is aborted when all viewers have left. What it returns at once
   * is sent at once.
   */
  holdShared<Answer>(
    exchange: Exchange,
    start: (signal: ViewerSignal) => Promise<Answer> | Answer,
    send: Send<Answer>,
  ): void {
    const url = exchange.request.url ?? '';
    // One URL always has one kind of answer.
    const known = this.#shared.get(url) as SharedWait<Answer> | undefined;
    if (known?.isOpen) {
      this.#join(exchange, known, send);
      return;
    }
    const viewersGone = new ViewerAbort();
    const pending = start(viewersGone);
    if (!(pending instanceof Promise)) {
      this.watch(exchange, send(pending));
      return;
    }
    const wait = new SharedWait<Answer>(viewersGone);
    this.#shared.set(url, wait);
    void this.#settle(url, wait, pending);
    if (!this.#join(exchange, wait, send)) viewersGone.abort();
  }

  watch(exchange: Exchange, sending: Promise<void> | void): void {
    sending?.catch((error: unknown) => this.fail(exchange, error));
  }

  /** Responds with 500, or 503 for what may work again soon, or cuts the viewer off where a response has begun. */
  fail(exchange: Exchange, error: unknown): void {
    const { kind } = exchange;
    if (error instanceof AppError && error.kind === 'unavailable') {
      this.#unavailable.warn('media-unavailable', { kind, error });
    } else {
      this.#log.error('delivery-failed', { kind, error });
    }
    this.#sender.sendFailure(exchange, error);
  }

  get heldRequests(): number {
    return this.#held.size;
  }

  end(): void {
    this.#held.end();
  }

  #join<Answer>(exchange: Exchange, wait: SharedWait<Answer>, send: Send<Answer>): boolean {
    const held = this.#hold(exchange, wait);
    if (held !== undefined) wait.viewers.push({ held, send });
    return held !== undefined;
  }

  #hold(exchange: Exchange, wait: { abort(): void }): HeldRequest | undefined {
    const held = this.#held.add(exchange, wait);
    if (held === undefined)
      this.#sender.sendError(
        exchange,
        503,
        'Too many requests are waiting. Try again in a moment.',
        'no-store',
      );
    return held;
  }

  async #settle<Answer>(url: string, wait: SharedWait<Answer>, pending: Promise<Answer>): Promise<void> {
    let respond: (exchange: Exchange, send: Send<Answer>) => void;
    try {
      const answer = await pending;
      respond = (exchange, send) => this.#sendNow(exchange, answer, send);
    } catch (error) {
      respond = exchange => this.fail(exchange, error);
    }
    wait.isSettled = true;
    if (this.#shared.get(url) === (wait as SharedWait<never>)) this.#shared.delete(url);
    const slice = new TimeSlice(maxSendingMs);
    for (const { held, send } of wait.viewers) {
      if (slice.isOver) await slice.next();
      if (this.#held.release(held)) respond(held.exchange, send);
    }
  }

  #sendNow<Answer>(exchange: Exchange, answer: Answer, send: Send<Answer>): void {
    try {
      this.watch(exchange, send(answer));
    } catch (error) {
      this.fail(exchange, error);
    }
  }
}
