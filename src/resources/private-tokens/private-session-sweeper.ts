import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PrivateSessionsStore } from './private-sessions.store.ts';

const everyMs = 10 * 60_000;

/** Removes the sessions of private tokens that are over, at the start and every ten minutes. */
export class PrivateSessionSweeper implements Component {
  readonly name = 'private-session-sweeper';
  readonly #sessions: PrivateSessionsStore;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { sessions: PrivateSessionsStore; log: Logger }) {
    this.#sessions = options.sessions;
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
      const count = this.#sessions.removeExpired();
      if (count > 0) this.#log.debug('private-sessions-removed', { count });
    } catch (error) {
      this.#log.warn('private-sessions-kept', { error });
    }
  }
}
