import type { Clock } from '../../../shared/clock.ts';
import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { CoalescedTask } from '../../../shared/scheduling/coalesced-task.ts';
import { OnDemandInterval } from '../../../shared/scheduling/on-demand-interval.ts';
import type { Database } from '../../../store/database.ts';
import type { OwnClaim } from './broadcast-claims.store.ts';
import type { BroadcastClaims } from './broadcast-claims.ts';

interface RunningBroadcast {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  hasActivePublisher(): boolean;
}

/** The broadcasts that this server packages. */
interface LocalBroadcasts {
  running(): readonly RunningBroadcast[];
  move(broadcastId: string, description: string): Promise<void>;
  complete(liveStreamId: string): Promise<void>;
  suspend(liveStreamId: string): boolean;
  /** @param description for the publisher; by default, that the live stream was deleted */
  remove(liveStreamId: string, description?: string): Promise<void>;
}

interface ClaimKeeperOptions {
  readonly database: Database;
  readonly claims: BroadcastClaims;
  readonly nodeId: string;
  readonly local: LocalBroadcasts;
  readonly canMove: () => Promise<boolean>;
  /** Tells whether the lease is stored, so that other servers cannot have taken anything over. */
  readonly isLeaseStored: () => boolean;
  /** Tells whether another server can use the database now. Does not use the database itself. */
  readonly isAnotherReady: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Logger;
}

const checkEveryMs = 1000;
/** Longest time that a claim has no broadcast: its begin or end could not be stored. */
const maxUnusedMs = 15_000;
const movedText = 'Another server receives this stream. Reconnect.';
const endedText = 'This broadcast was ended through another server. Reconnect to start a new one.';
const detachedText = 'The server cannot reach its database. Reconnect.';

/** Follows what other servers decide about the broadcasts of this one, which are stored. */
export class ClaimKeeper implements Component {
  readonly name = 'claims';
  readonly #options: ClaimKeeperOptions;
  readonly #check = new CoalescedTask(() => this.#checkAll());
  readonly #leaving = new CoalescedTask(() => this.#leaveUnreachable());
  readonly #interval = new OnDemandInterval(checkEveryMs, () => {
    this.#check.request();
    if (this.#hasOthers && !this.#options.isLeaseStored()) this.#leaving.request();
    return this.#options.local.running().length > 0 || this.#options.claims.hasOwn;
  });
  #hasOthers = false;
  /** Claims without a broadcast, with the monotonic time of the first check that found them. */
  #unused = new Map<string, number>();
  #stopListening: () => void = () => {};

  constructor(options: ClaimKeeperOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { database, claims, nodeId } = this.#options;
    // Releases the claims of this server's previous run.
    await claims.releaseAllOf(nodeId);
    this.#stopListening = database.signals.listen('live', (liveStreamId = '') => {
      if (this.#options.local.running().length === 0 && !claims.hasOwn) return;
      if (liveStreamId !== '' && !this.#isOwn(liveStreamId)) return;
      this.#interval.wake();
      this.#check.request();
    });
  }

  async stop(): Promise<void> {
    this.#stopListening();
    this.#interval.stop();
    for (const task of [this.#check, this.#leaving]) task.cancel();
    await Promise.all([this.#check.idle(), this.#leaving.idle()]);
  }

  /** Call this when a broadcast begins. */
  wake(): void {
    this.#interval.wake();
  }

  #isOwn(liveStreamId: string): boolean {
    const { claims, local } = this.#options;
    return claims.hasOwnOf(liveStreamId) || local.running().some(one => one.liveStreamId === liveStreamId);
  }

  async #checkAll(): Promise<void> {
    const { claims, nodeId, local, canMove, log } = this.#options;
    try {
      const before = local.running();
      const claimed = new Map((await claims.store.listOf(nodeId)).map(one => [one.broadcastId, one]));
      this.#hasOthers = await canMove();
      await this.#releaseUnused(claimed);
      for (const broadcast of before) await this.#follow(broadcast, claimed.get(broadcast.broadcastId));
    } catch (error) {
      log.warn('claims-not-checked', { error });
    }
  }

  /**
   * Leaves what another server may package by now. Media needs no database: while no server can use it, publishers stay
   * where they are.
   */
  async #leaveUnreachable(): Promise<void> {
    const { local, isLeaseStored, isAnotherReady } = this.#options;
    if (!(await isAnotherReady()) || isLeaseStored()) return;
    for (const { broadcastId } of local.running()) this.#move(broadcastId, detachedText);
  }

  async #follow(broadcast: RunningBroadcast, claimed: OwnClaim | undefined): Promise<void> {
    const { claims, nodeId, local } = this.#options;
    const { broadcastId, liveStreamId } = broadcast;
    const claim = claims.claimOf(broadcastId);
    if (claim === undefined) return;
    if (claimed?.claim !== claim) {
      const open = await claims.store.findOpen(liveStreamId);
      if (open?.broadcastId === broadcastId) this.#move(broadcastId, movedText);
      else await local.remove(liveStreamId, endedText);
      return;
    }
    const { requestedEnd, wantedBy } = claimed;
    if (requestedEnd === 'deleted') await local.remove(liveStreamId);
    else if (requestedEnd === 'account-suspended') local.suspend(liveStreamId);
    else if (requestedEnd !== undefined) void local.complete(liveStreamId);
    else if (wantedBy === undefined || wantedBy === nodeId) return;
    else if (broadcast.hasActivePublisher()) await claims.keep(claimed);
    else this.#move(broadcastId, movedText);
  }

  async #releaseUnused(claimed: ReadonlyMap<string, OwnClaim>): Promise<void> {
    const { claims, local, clock } = this.#options;
    const running = new Set(local.running().map(({ broadcastId }) => broadcastId));
    const nowMs = clock.monotonicMs();
    const unused = new Map<string, number>();
    for (const broadcastId of claimed.keys()) {
      if (running.has(broadcastId)) continue;
      const sinceMs = this.#unused.get(broadcastId) ?? nowMs;
      if (nowMs - sinceMs < maxUnusedMs) unused.set(broadcastId, sinceMs);
      else await claims.release(broadcastId);
    }
    this.#unused = unused;
  }

  /**
   * Moves a broadcast, without waiting: the packager may take a while, and its server does not need the database
   * for that.
   */
  #move(broadcastId: string, description: string): void {
    const { local, log } = this.#options;
    log.info('broadcast-left', { broadcastId, reason: description });
    void local
      .move(broadcastId, description)
      .catch((error: unknown) => log.error('broadcast-not-released', { broadcastId, error }));
  }
}
