import type { GrowingRendition } from '../index/growing-rendition.ts';

const pollEveryMs = 200;

/** Polls until it is stopped or a rendition fails. */
export class RenditionPoller {
  readonly #renditions: readonly GrowingRendition[];
  readonly #events: { readonly onPolled: () => Promise<void>; readonly onFailure: (error: unknown) => void };
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(
    renditions: readonly GrowingRendition[],
    events: { readonly onPolled: () => Promise<void>; readonly onFailure: (error: unknown) => void },
  ) {
    this.#renditions = renditions;
    this.#events = events;
    this.#schedule();
  }

  /** Waits for the current round. @throws the error that ended the polling */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#round;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#poll();
    }, pollEveryMs);
  }

  async #poll(): Promise<void> {
    try {
      await Promise.all(this.#renditions.map(rendition => rendition.poll()));
      await this.#events.onPolled();
    } catch (error) {
      this.#failure ??= error;
      this.#isStopped = true;
      this.#events.onFailure(error);
    }
    if (!this.#isStopped) this.#schedule();
  }
}
