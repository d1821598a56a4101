import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../shared/clock.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { BroadcastClaimsStore, type ClaimedBroadcast, type OwnClaim } from './broadcast-claims.store.ts';
import { BroadcastsStore, type OpenedBroadcast } from './broadcasts.store.ts';

interface BroadcastClaimsOptions {
  readonly database: Database;
  readonly nodeId: string;
  /** The servers whose lease has not run out. */
  readonly listNodes: () => Promise<readonly NodeState[]>;
  /** Time for a lost publisher to reconnect. */
  readonly reconnectGraceMs: number;
  readonly clock: Clock;
}

interface NodeState {
  readonly id: string;
  readonly roles: readonly string[];
  readonly isDraining: boolean;
}

interface Continued {
  readonly startedAtMs: number;
  readonly claim: number;
  readonly continuesAt: number;
  readonly targetDurationSeconds: number | undefined;
  readonly recording:
    | { readonly videoId: string; readonly startedAtMs: number; readonly firstSpan: number }
    | undefined;
}

interface Claimed {
  readonly broadcastId: string;
  readonly continued: Continued | undefined;
}

/** Segments are longer than this on average, also with an encoder that reconnects all the time. */
const minSegmentMs = 100;
const spareSequences = 1000;
/** Files of a recording that are left to each server. */
const spansPerClaim = 1000;
/** A server that does not say within this time that it has a publisher gives way, like a silent publisher. */
const maxAnswerMs = 2000;
const askIntervalMs = 100;

/** Lets one of the servers that share a database receive a live stream, and hands broadcasts over. */
export class BroadcastClaims {
  readonly store: BroadcastClaimsStore;
  readonly #options: BroadcastClaimsOptions;
  readonly #broadcasts: BroadcastsStore;
  /** Claims of this server, by broadcast. */
  readonly #own = new Map<string, { readonly claim: number; readonly liveStreamId: string }>();

  constructor(options: BroadcastClaimsOptions) {
    this.#options = options;
    this.store = new BroadcastClaimsStore(options.database, options.clock);
    this.#broadcasts = new BroadcastsStore(options.database);
  }

  /** Tells whether another server receives publishers. */
  async canMove(): Promise<boolean> {
    const { listNodes, nodeId } = this.#options;
    const nodes = await listNodes();
    return nodes.some(
      ({ id, roles, isDraining }) => id !== nodeId && !isDraining && roles.includes('ingest'),
    );
  }

  get hasOwn(): boolean {
    return this.#own.size > 0;
  }

  hasOwnOf(liveStreamId: string): boolean {
    return [...this.#own.values()].some(own => own.liveStreamId === liveStreamId);
  }

  claimOf(broadcastId: string): number | undefined {
    return this.#own.get(broadcastId)?.claim;
  }

  /** Undefined for a broadcast that this server has not claimed. */
  liveStreamOf(broadcastId: string): string | undefined {
    return this.#own.get(broadcastId)?.liveStreamId;
  }

  forget(broadcastId: string): void {
    this.#own.delete(broadcastId);
  }

  /**
   * Opens a broadcast, or continues the one that waits. Asks the server that packages it whether it has a publisher.
   * @returns undefined when it has
   */
  async claim(record: OpenedBroadcast<string>): Promise<Claimed | undefined> {
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + maxAnswerMs;
    let requested: ClaimedBroadcast | undefined;
    for (;;) {
      const isUnanswered = clock.monotonicMs() >= deadlineMs;
      const alive = new Set((await this.#options.listNodes()).map(({ id }) => id));
      const outcome = await this.#try(record, requested, { isUnanswered, alive });
      if ('broadcastId' in outcome) {
        const { liveStreamId } = record;
        this.#own.set(outcome.broadcastId, { claim: outcome.continued?.claim ?? 1, liveStreamId });
        return outcome;
      }
      if (outcome.requested === undefined) return undefined;
      requested = outcome.requested;
      await sleep(askIntervalMs);
    }
  }

  #try(
    record: OpenedBroadcast<string>,
    requested: ClaimedBroadcast | undefined,
    { isUnanswered, alive }: { readonly isUnanswered: boolean; readonly alive: ReadonlySet<string> },
  ): Promise<Claimed | { readonly requested: ClaimedBroadcast | undefined }> {
    const { database, nodeId } = this.#options;
    const { liveStreamId } = record;
    return database.transaction(async transaction => {
      await transaction.lock('live', liveStreamId);
      const open = await this.store.findOpen(liveStreamId, transaction);
      if (open === undefined) return this.#open(record, transaction);
      const isFree =
        open.nodeId === undefined ||
        open.nodeId === nodeId ||
        ['waiting', 'stopping'].includes(open.state) ||
        (isUnanswered && open.wantedBy === nodeId) ||
        !alive.has(open.nodeId);
      if (isFree) return this.#take(open, transaction);
      const isAsked = requested?.broadcastId === open.broadcastId && requested.claim === open.claim;
      // The answer of a server that has a publisher.
      if (isAsked && open.wantedBy !== nodeId) return { requested: undefined };
      if (!isAsked) {
        await this.store.setWantedBy(open.broadcastId, nodeId, transaction);
        await database.signals.send('live', liveStreamId, transaction);
      }
      return { requested: open };
    });
  }

  async #open(record: OpenedBroadcast<string>, transaction: Transaction): Promise<Claimed> {
    const { nodeId, database } = this.#options;
    const broadcastId = await this.#broadcasts.add(record, transaction);
    await this.store.take(broadcastId, { nodeId, firstSequence: 1 }, transaction);
    await database.signals.send('live', record.liveStreamId, transaction);
    return { broadcastId, continued: undefined };
  }

  async #take(open: ClaimedBroadcast, transaction: Transaction): Promise<Claimed> {
    const { nodeId, database } = this.#options;
    const { broadcastId, startedAtMs, targetDurationSeconds } = open;
    const pastMs = Math.max(0, (await this.store.nowMs(transaction)) - open.claimedAtMs);
    const continuesAt = open.firstSequence + Math.ceil(pastMs / minSegmentMs) + spareSequences;
    await this.store.take(broadcastId, { nodeId, firstSequence: continuesAt }, transaction);
    await database.signals.send('live', open.liveStreamId, transaction);
    const claim = open.claim + 1;
    const found = await this.store.takeRecording(broadcastId, nodeId, transaction);
    const recording = found && { ...found, firstSpan: open.claim * spansPerClaim + 1 };
    return { broadcastId, continued: { startedAtMs, claim, continuesAt, targetDurationSeconds, recording } };
  }

  /** Leaves a broadcast to the next server that claims it. */
  async release(broadcastId: string): Promise<void> {
    const { database, nodeId, reconnectGraceMs } = this.#options;
    const own = this.#own.get(broadcastId);
    if (own === undefined) return;
    const { claim, liveStreamId } = own;
    await database.transaction(async transaction => {
      await this.store.release({ broadcastId, nodeId, claim }, reconnectGraceMs, transaction);
      await database.signals.send('live', liveStreamId, transaction);
    });
    // The publisher may have returned to this server meanwhile.
    if (this.#own.get(broadcastId) === own) this.#own.delete(broadcastId);
  }

  /**
   * Calls `write` only while the broadcast belongs to this server, and keeps others from taking it until the commit. A
   * server that was held up may still write about a broadcast that another one continues.
   * @returns false when it belongs to another server, or none
   */
  async writeOwn(broadcastId: string, write: (transaction: Transaction) => Promise<void>): Promise<boolean> {
    const { database, nodeId } = this.#options;
    const claim = this.claimOf(broadcastId);
    if (claim === undefined) return false;
    return database.transaction(async transaction => {
      if (!(await this.store.lockOwn({ broadcastId, nodeId, claim }, transaction))) return false;
      await write(transaction);
      return true;
    });
  }

  /** Leaves what a server packaged that is gone to others. */
  async releaseAllOf(nodeId: string): Promise<void> {
    const { database, reconnectGraceMs } = this.#options;
    await database.transaction(async transaction => {
      for (const claimed of await this.store.listOf(nodeId, transaction)) {
        await this.store.release({ ...claimed, nodeId }, reconnectGraceMs, transaction);
        await database.signals.send('live', claimed.liveStreamId, transaction);
      }
    });
  }

  /** The publisher of this server goes on: the other server refuses its own. */
  async keep({ broadcastId, liveStreamId }: OwnClaim): Promise<void> {
    const { database } = this.#options;
    await database.transaction(async transaction => {
      await this.store.setWantedBy(broadcastId, null, transaction);
      await database.signals.send('live', liveStreamId, transaction);
    });
  }

  /** Asks the server that packages the live stream's broadcast to end it. Returns false when there is none. */
  async requestEnd(liveStreamId: string, reason: string): Promise<boolean> {
    const { database } = this.#options;
    return database.transaction(async transaction => {
      const open = await this.store.findOpen(liveStreamId, transaction);
      if (open === undefined) return false;
      await this.store.requestEnd(open.broadcastId, reason, transaction);
      await database.signals.send('live', liveStreamId, transaction);
      return true;
    });
  }
}
