import type { Clock } from '../../shared/clock.ts';
import { CoalescedTask } from '../../shared/scheduling/coalesced-task.ts';
import type { Outbox } from '../outbox.store.ts';
import type { FeedClient } from './feed-client.ts';
import { eventMessage } from './feed-message.ts';

interface EventReaderOptions {
  readonly outbox: Outbox;
  readonly clock: Clock;
  sent(count: number): void;
  failed(error: unknown): void;
}

interface ReadEvent {
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly text: string;
}

/** Events read at once for one client, which it may buffer beyond its limit. */
const batchSize = 100;
const sliceMs = 4;
const batchDelayMs = 10;
const retryMs = 1_000;

/** Reads a batch for each client in turn. Clients at the same position share it until there are new events. */
export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #pending = new Set<FeedClient>();
  readonly #reading = new CoalescedTask(() => this.#read());
  #timer: NodeJS.Timeout | undefined;
  #batches = new Map<string, readonly ReadEvent[]>();
  #idleWaiters: (() => void)[] = [];
  #isStopped = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  add(client: FeedClient): void {
    if (this.#isStopped) return;
    this.#pending.add(client);
    this.#reading.request();
  }

  /** Call this when there are new events for `clients`. */
  addAll(clients: Iterable<FeedClient>): void {
    if (this.#isStopped) return;
    this.#batches = new Map();
    for (const client of clients) if (!client.isWaitingForDrain) this.#pending.add(client);
    if (this.#pending.size > 0) this.#readLater(batchDelayMs);
  }

  remove(client: FeedClient): void {
    this.#pending.delete(client);
  }

  /** Waits for clients, except those with a full socket. @param untilMs a time of {@link Date.now} */
  async idle(untilMs: number): Promise<void> {
    if (this.#pending.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idleWaiters.push(resolve);
    const timer = setTimeout(resolve, Math.max(0, untilMs - Date.now()));
    await promise;
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#reading.cancel();
    this.#pending.clear();
    this.#resolveIdle();
    await this.#reading.idle();
  }

  #readLater(afterMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#reading.request();
    }, afterMs);
  }

  async #read(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#readSlice();
    } catch (error) {
      // Positions have not changed, so no event is skipped.
      this.#options.failed(error);
      this.#readLater(retryMs);
      return;
    }
    if (this.#pending.size > 0) this.#reading.request();
    else this.#resolveIdle();
  }

  async #readSlice(): Promise<void> {
    const { clock } = this.#options;
    const endsMs = clock.monotonicMs() + sliceMs;
    this.#batches = new Map();
    for (const client of this.#pending) {
      if (client.canTakeEvents) await this.#readFor(client);
      else {
        this.#pending.delete(client);
        client.isWaitingForDrain = client.isOpen;
      }
      if (clock.monotonicMs() >= endsMs) return;
    }
  }

  async #readFor(client: FeedClient): Promise<void> {
    const batches = this.#batches;
    const batch = await this.#batchFor(client, batches);
    // Skips a client whose connection was closed during the query.
    if (!this.#pending.delete(client)) return;
    this.#send(client, batch);
    const hasNewEvents = batches !== this.#batches;
    if (batch.length === batchSize || hasNewEvents) this.#pending.add(client);
  }

  async #batchFor(
    client: FeedClient,
    batches: Map<string, readonly ReadEvent[]>,
  ): Promise<readonly ReadEvent[]> {
    const { projectId } = client.subscription;
    const key = `${projectId} ${client.cursor}`;
    let batch = batches.get(key);
    if (batch === undefined) {
      const events = await this.#options.outbox.listOfProject(projectId, client.cursor, batchSize);
      batch = events.map(event => ({
        number: event.number,
        type: event.type,
        subjectId: event.subjectId,
        text: eventMessage(event),
      }));
      batches.set(key, batch);
    }
    return batch;
  }

  #send(client: FeedClient, batch: readonly ReadEvent[]): void {
    const texts = batch
      .filter(({ type, subjectId }) => client.wants(type, subjectId))
      .map(({ text }) => text);
    client.send(texts);
    client.cursor = batch.at(-1)?.number ?? client.cursor;
    if (texts.length > 0) this.#options.sent(texts.length);
  }

  #resolveIdle(): void {
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
