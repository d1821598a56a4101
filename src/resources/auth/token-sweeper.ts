import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Database } from '../../store/database.ts';
import { TokensStore } from './tokens.store.ts';

const everyMs = 10 * 60_000;

/** Removes expired tokens at the start and every ten minutes. */
export class TokenSweeper implements Component {
  readonly name = 'token-sweeper';
  readonly #tokens: TokensStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { database: Database; clock: Clock; log: Logger }) {
    this.#tokens = new TokensStore(options.database);
    this.#clock = options.clock;
    this.#log = options.log;
  }

  async start(): Promise<void> {
    this.#sweep();
    this.#timer = setInterval(() => this.#sweep(), everyMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    try {
      const count = this.#tokens.removeExpired(this.#clock.nowMs());
      if (count > 0) this.#log.debug('expired-tokens-removed', { count });
    } catch (error) {
      this.#log.warn('expired-tokens-kept', { error });
    }
  }
}
