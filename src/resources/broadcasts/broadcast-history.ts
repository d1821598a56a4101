import type { EventType } from '../../events/event-catalogue.ts';
import type { Outbox } from '../../events/outbox.store.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Database } from '../../store/database.ts';
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

  findLiveOfSuspended(): string[] {
    return this.#store.findLiveOfSuspended();
  }

  opened(broadcast: OpenedBroadcast<State>): string {
    return this.#store.add(broadcast);
  }

  changed(broadcastId: string, changes: BroadcastChanges<State>): void {
    this.#database.transaction(() => {
      this.#store.change(broadcastId, changes);
      if (changes.state === undefined || !broadcastingStates.includes(changes.state)) return;
      const nowMs = this.#clock.nowMs();
      // A publisher that reconnects makes it live again, without another start event.
      if (!this.#store.markPlayable(broadcastId, nowMs)) return;
      this.#appendEvent(broadcastId, 'live-stream.broadcast.started', nowMs);
    });
  }

  /** Idempotent. */
  ended(broadcastId: string, atMs: number, reason: EndReason, health?: BroadcastHealth): void {
    this.#database.transaction(() => {
      if (!this.#store.end(broadcastId, atMs, reason, health)) return;
      this.#appendEvent(broadcastId, 'live-stream.broadcast.ended', atMs);
    });
  }

  /** Ends the broadcasts that a crash left open. Returns their number. */
  endUnfinished(atMs: number, reason: EndReason): number {
    return this.#database.transaction(() => {
      const broadcastIds = this.#store.findUnfinished();
      for (const broadcastId of broadcastIds) this.ended(broadcastId, atMs, reason);
      return broadcastIds.length;
    });
  }

  #appendEvent(broadcastId: string, type: EventType, atMs: number): void {
    const stream = this.#store.findPlayed(broadcastId);
    if (stream !== undefined) this.#outbox.appendLiveStreamEvent(stream, type, {}, atMs);
  }
}
