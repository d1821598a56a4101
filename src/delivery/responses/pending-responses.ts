import type { Logger } from '../../shared/logger.ts';
import type { Exchange } from './exchange.ts';
import { HeldRequests } from './held-requests.ts';
import type { ResponseSender } from './response-sender.ts';
import { ViewerAbort } from './viewer-abort.ts';

export class PendingResponses {
  readonly #sender: ResponseSender;
  readonly #log: Logger;
  readonly #held = new HeldRequests();

  constructor(sender: ResponseSender, log: Logger) {
    this.#sender = sender;
    this.#log = log;
  }

  /** Handles the failure of both `pending` and `send`. `abort` fires when the viewer leaves before that. */
  hold<Answer>(
    exchange: Exchange,
    pending: Promise<Answer>,
    send: (answer: Answer) => Promise<void> | void,
    abort = new ViewerAbort(),
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
        if (!abort.aborted) this.fail(exchange, error);
      });
  }

  watch(exchange: Exchange, sending: Promise<void> | void): void {
    sending?.catch((error: unknown) => this.fail(exchange, error));
  }

  /** Responds with 500, or cuts the viewer off where a response has begun. */
  fail(exchange: Exchange, error: unknown): void {
    this.#log.error('delivery-failed', { kind: exchange.kind, error });
    this.#sender.sendFailure(exchange);
  }

  end(): void {
    this.#held.end();
  }
}
