import type { EventType } from '../../../events/event-catalogue.ts';
import type { Outbox } from '../../../events/outbox.store.ts';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import {
  type BroadcastChanges,
  type BroadcastHealth,
  BroadcastsStore,
  type OpenedBroadcast,
} from './broadcasts.store.ts';

const broadcastingStates: readonly string[] = ['live', 'waiting', 'stopping'];

/** Stores broadcasts, with an event when one becomes playable and when a playable one ends. */
export class BroadcastHistory<State extends string = string, EndReason extends string = string> {
  readonly #database: Database;
  readonly #store: BroadcastsStore;
  readonly #outbox: Outbox;
  readonly #clock: Clock;

  constructor(database: Database, outbox: Outbox, clock: Clock = systemClock) {
    this.#database = database;
    this.#store = new BroadcastsStore(database);
    this.#outbox = outbox;
    this.#clock = clock;
  }

  findLiveOfSuspended(): Promise<string[]> {
    return this.#store.findLiveOfSuspended();
  }

  /** @throws Error when the live stream was deleted */
  opened(broadcast: OpenedBroadcast<State>): Promise<string> {
    return this.#store.add(broadcast);
  }

  changed(
    broadcastId: string,
    changes: BroadcastChanges<State>,
    connection: Connection = this.#database,
  ): Promise<void> {
    return connection.transaction(async transaction => {
      await this.#store.change(broadcastId, changes, transaction);
      if (changes.state === undefined || !broadcastingStates.includes(changes.state)) return;
      const nowMs = this.#clock.nowMs();
      // A publisher that reconnects makes it live again, without another start event.
      if (!(await this.#store.markPlayable(broadcastId, nowMs, transaction))) return;
      await this.#appendEvent(broadcastId, 'live-stream.broadcast.started', nowMs, transaction);
    });
  }

  /** Idempotent. */
  ended(
    broadcastId: string,
    atMs: number,
    reason: EndReason,
    health?: BroadcastHealth,
    connection: Connection = this.#database,
  ): Promise<void> {
    return connection.transaction(async transaction => {
      if (!(await this.#store.end(broadcastId, atMs, reason, health, transaction))) return;
      await this.#appendEvent(broadcastId, 'live-stream.broadcast.ended', atMs, transaction);
    });
  }

  /** Ends the broadcasts that a crash left open. Returns their number. */
  endUnfinished(atMs: number, reason: EndReason): Promise<number> {
    return this.#database.transaction(async transaction => {
      const broadcastIds = await this.#store.findUnfinished(transaction);
      for (const broadcastId of broadcastIds) {
        await this.ended(broadcastId, atMs, reason, undefined, transaction);
      }
      return broadcastIds.length;
    });
  }

  async #appendEvent(
    broadcastId: string,
    type: EventType,
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    const stream = await this.#store.findPlayed(broadcastId, transaction);
    if (stream !== undefined) await this.#outbox.appendLiveStreamEvent(stream, type, {}, atMs, transaction);
  }
}
