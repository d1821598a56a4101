import type { Logger } from '../../shared/logger.ts';
import type { Exchange } from './exchange.ts';
import { HeldRequests } from './held-requests.ts';
import type { ResponseSender } from './response-sender.ts';

/** Answers requests whose answer has to be waited for. */
export class PendingResponses {
  readonly #sender: ResponseSender;
  readonly #log: Logger;
  readonly #held = new HeldRequests();

  constructor(sender: ResponseSender, log: Logger) {
    this.#sender = sender;
    this.#log = log;
  }

  /**
   * Answers when `pending` is there. `abort` tells its maker when the viewer leaves before that. What `send` promises is not
   * waited for, but its failure is seen to.
   */
  hold<Answer>(
    exchange: Exchange,
    pending: Promise<Answer>,
    send: (answer: Answer) => Promise<void> | void,
    abort = new AbortController(),
  ): void {
    const release = this.#held.add(exchange, abort, () =>
      this.#sender.sendError(exchange, 503, 'The server is shutting down.', 'no-store'),
    );
    if (release === undefined) {
      abort.abort();
      pending.catch(() => {});
      this.#sender.sendError(exchange, 503, 'Too many requests wait here.', 'no-store');
      return;
    }
    pending
      .then(answer => (release() ? send(answer) : undefined))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.fail(exchange, error);
      });
  }

  /** Watches a response that is being sent for its failure. */
  watch(exchange: Exchange, sending: Promise<void> | void): void {
    sending?.catch((error: unknown) => this.fail(exchange, error));
  }

  /** Logs what should not have happened, and answers it; cuts the viewer off where an answer has begun. */
  fail(exchange: Exchange, error: unknown): void {
    this.#log.error('delivery-failed', { kind: exchange.kind, error });
    this.#sender.sendFailure(exchange);
  }

  /** Ends all that wait. */
  end(): void {
    this.#held.end();
  }
}
