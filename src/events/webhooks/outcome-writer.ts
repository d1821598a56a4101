import type { Logger } from '../../shared/logger.ts';
import type { Lane } from './webhook-lane.ts';
import type { AttemptOutcome, WebhookQueue } from './webhook-queue.store.ts';

interface EndedAttempt {
  readonly lane: Lane;
  readonly outcome: AttemptOutcome;
}

interface OutcomeWriterOptions {
  readonly stored: (ended: EndedAttempt) => void;
  /** Called after each batch, whether it was stored or not. */
  readonly settled: () => void;
  readonly log: Logger;
}

/** Takes a few milliseconds. */
const maxBatch = 50;
const storeDelayMs = 2;
const databaseRetryMs = 1_000;

/** Stores the outcomes of attempts in batches, and again later when the database fails. */
export class OutcomeWriter {
  readonly #queue: Pick<WebhookQueue, 'record'>;
  readonly #options: OutcomeWriterOptions;
  readonly #waiting: EndedAttempt[] = [];
  #timer: NodeJS.Timeout | undefined;
  #storing: Promise<void> | undefined;
  #isStopped = false;

  constructor(queue: Pick<WebhookQueue, 'record'>, options: OutcomeWriterOptions) {
    this.#queue = queue;
    this.#options = options;
  }

  /** The attempt counts as running until its outcome is stored, and is not started again. */
  add(ended: EndedAttempt): void {
    this.#waiting.push(ended);
    this.#storeAfter(storeDelayMs);
  }

  /** Stores everything that waits, as far as the database lets it. */
  async flush(): Promise<void> {
    await this.#storing;
    while (this.#waiting.length > 0 && (await this.#storeBatch()));
    if (this.#waiting.length > 0) this.#storeAfter(databaseRetryMs);
  }

  /** Stores nothing more by itself. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #storeAfter(delayMs: number): void {
    if (this.#isStopped || this.#storing !== undefined) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#storing = this.#storeBatch().then(areStored => {
        this.#storing = undefined;
        if (this.#waiting.length > 0) this.#storeAfter(areStored ? 0 : databaseRetryMs);
        this.#options.settled();
      });
    }, delayMs);
  }

  /** Returns false when some must be stored later. */
  async #storeBatch(): Promise<boolean> {
    const batch = this.#waiting.splice(0, maxBatch);
    const projects = Map.groupBy(batch, ({ outcome }) => outcome.delivery.projectId);
    const results = await Promise.all(
      [...projects].map(([projectId, ended]) => this.#storeProject(projectId, ended)),
    );
    return results.every(isStored => isStored);
  }

  async #storeProject(projectId: string, ended: readonly EndedAttempt[]): Promise<boolean> {
    try {
      await this.#queue.record(
        projectId,
        ended.map(({ outcome }) => outcome),
      );
    } catch (error) {
      this.#options.log.error('webhook-outcomes-not-stored', { count: ended.length, error });
      this.#waiting.push(...ended);
      return false;
    }
    for (const each of ended) this.#options.stored(each);
    return true;
  }
}
