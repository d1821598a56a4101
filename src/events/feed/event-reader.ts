import type { Clock } from '../../shared/clock.ts';
import type { Outbox } from '../outbox.store.ts';
import type { FeedClient } from './feed-client.ts';
import { eventMessage } from './feed-message.ts';

/** What {@link EventReader} needs. */
export interface EventReaderOptions {
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** So many events were sent to a client. */
  sent(count: number): void;
  failed(error: unknown): void;
}

interface ReadEvent {
  readonly number: number;
  readonly type: string;
  readonly subjectId: string;
  readonly text: string;
}

/** Read at once for one client: what one may make wait beyond its cap. */
const batchSize = 100;
/** What one turn of the event loop may be used for. */
const sliceMs = 4;
/** After events were written, so that a burst is read in few batches. */
const gatherMs = 10;
const retryMs = 1_000;

/**
 * Reads events for clients that are behind: a batch for each in turn, as long as its socket has room. Clients at the same place share
 * what is read within a slice. Between slices everybody else has a turn.
 */
export class EventReader {
  readonly #options: EventReaderOptions;
  readonly #behind = new Set<FeedClient>();
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #whenIdle: (() => void)[] = [];
  #isStopped = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  /** There may be events for a client. */
  add(client: FeedClient): void {
    if (this.#isStopped) return;
    this.#behind.add(client);
    this.#turn ??= setImmediate(() => this.#read());
  }

  /** There may be events for these. Those that wait for room come back by themselves. */
  addAll(clients: Iterable<FeedClient>): void {
    if (this.#isStopped) return;
    for (const client of clients) if (!client.isWaitingForDrain) this.#behind.add(client);
    if (this.#behind.size > 0 && this.#turn === undefined) this.#later(gatherMs);
  }

  remove(client: FeedClient): void {
    this.#behind.delete(client);
  }

  /** Resolves when everybody has what there is or waits for room. @param untilMs a time of {@link Date.now} */
  async idle(untilMs: number): Promise<void> {
    if (this.#behind.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenIdle.push(resolve);
    const timer = setTimeout(resolve, Math.max(0, untilMs - Date.now()));
    await promise;
    clearTimeout(timer);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    this.#behind.clear();
    this.#tellIdle();
  }

  #later(afterMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#turn ??= setImmediate(() => this.#read());
    }, afterMs);
  }

  #read(): void {
    this.#turn = undefined;
    try {
      this.#readSlice();
    } catch (error) {
      // The clients are where they were; nothing is skipped.
      this.#options.failed(error);
      this.#later(retryMs);
      return;
    }
    if (this.#behind.size > 0) this.#turn = setImmediate(() => this.#read());
    else this.#tellIdle();
  }

  #readSlice(): void {
    const { clock } = this.#options;
    const endsMs = clock.monotonicMs() + sliceMs;
    const batches = new Map<string, ReadEvent[]>();
    for (const client of this.#behind) {
      if (client.canTakeEvents) {
        const batch = this.#batchFor(client, batches);
        this.#send(client, batch);
        this.#behind.delete(client);
        // At the end of the line.
        if (batch.length === batchSize) this.#behind.add(client);
      } else {
        this.#behind.delete(client);
        client.isWaitingForDrain = client.isOpen;
      }
      if (clock.monotonicMs() >= endsMs) return;
    }
  }

  #batchFor(client: FeedClient, batches: Map<string, ReadEvent[]>): ReadEvent[] {
    const { projectId } = client.subscription;
    const key = `${projectId} ${client.cursor}`;
    let batch = batches.get(key);
    if (batch === undefined) {
      batch = this.#options.outbox.listOfProject(projectId, client.cursor, batchSize).map(event => ({
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

  #tellIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
