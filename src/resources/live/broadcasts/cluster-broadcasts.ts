import type { Clock } from '../../../shared/clock.ts';
import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { CoalescedTask } from '../../../shared/scheduling/coalesced-task.ts';
import { TypedEvents } from '../../../shared/typed-events.ts';
import type { Database } from '../../../store/database.ts';
import type { BroadcastClaimsStore, ClaimedBroadcast } from './broadcast-claims.store.ts';
import type { BroadcastHistory } from './broadcast-history.ts';

interface NodeAddresses {
  readonly id: string;
  readonly url: string;
  readonly mediaUrl: string;
}

interface ClusterBroadcastsOptions {
  readonly database: Database;
  readonly store: BroadcastClaimsStore;
  readonly history: BroadcastHistory;
  readonly nodeId: string;
  /** The servers whose lease has not run out. */
  readonly listNodes: () => Promise<readonly NodeAddresses[]>;
  readonly clock: Clock;
  readonly log: Logger;
}

interface BroadcastEvents {
  'state-changed': { readonly liveStreamId: string };
}

const tickMs = 1000;
/** Signals tell of changes at once, and may be lost. */
const maxAgeMs = 5000;
const maxChangedIds = 200;
const broadcastingStates: readonly string[] = ['live', 'waiting', 'stopping'];

/** The broadcasts that other servers package, as they are stored. Ends those that no server continues in time. */
export class ClusterBroadcasts implements Component {
  readonly name = 'cluster-broadcasts';
  readonly #options: ClusterBroadcastsOptions;
  readonly #events = new TypedEvents<BroadcastEvents>();
  readonly #reading = new CoalescedTask(() => this.#readChanged());
  #byStream = new Map<string, ClaimedBroadcast>();
  #nodes: ReadonlyMap<string, NodeAddresses> = new Map();
  #changed = new Set<string>();
  #mustReadAll = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => {};

  constructor(options: ClusterBroadcastsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { signals } = this.#options.database;
    const forLive = signals.listen('live', liveStreamId => this.#request(liveStreamId));
    const forNodes = signals.listen('nodes', () => this.#request(undefined));
    this.#stopListening = () => {
      forLive();
      forNodes();
    };
    await this.#readAll();
    this.#timer = setInterval(() => this.#tick(), tickMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    clearInterval(this.#timer);
    this.#reading.cancel();
    await this.#reading.idle();
  }

  /** The broadcast of another server, or of none that waits for one. */
  find(liveStreamId: string): ClaimedBroadcast | undefined {
    return this.#byStream.get(liveStreamId);
  }

  list(): Iterable<ClaimedBroadcast> {
    return this.#byStream.values();
  }

  isBroadcasting(liveStreamId: string): boolean {
    return broadcastingStates.includes(this.find(liveStreamId)?.state ?? '');
  }

  /** Base address of the server that packages it; undefined while none does. */
  mediaUrlOf({ nodeId }: ClaimedBroadcast): string | undefined {
    return nodeId === undefined ? undefined : this.#nodes.get(nodeId)?.mediaUrl;
  }

  /** Returns a URL as {@link mediaUrlOf} does, but never of a CDN. */
  serverUrlOf({ nodeId }: ClaimedBroadcast): string | undefined {
    return nodeId === undefined ? undefined : this.#nodes.get(nodeId)?.url;
  }

  /** Base address of this server's media; undefined for the only one, whose viewers know it. */
  get ownMediaUrl(): string | undefined {
    return this.#nodes.size > 1 ? this.#nodes.get(this.#options.nodeId)?.mediaUrl : undefined;
  }

  onStateChange(liveStreamId: string, listener: () => void): () => void {
    return this.#events.on('state-changed', event => {
      if (event.liveStreamId === liveStreamId) listener();
    });
  }

  #request(liveStreamId: string | undefined): void {
    const isAll = liveStreamId === undefined || liveStreamId === '' || this.#changed.size >= maxChangedIds;
    if (isAll) this.#mustReadAll = true;
    else this.#changed.add(liveStreamId);
    this.#reading.request();
  }

  #tick(): void {
    const hasWaiting = [...this.#byStream.values()].some(({ nodeId }) => nodeId === undefined);
    if (hasWaiting || this.#mustReadAll || this.#isOld) this.#reading.request();
  }

  get #isOld(): boolean {
    return this.#options.clock.monotonicMs() - this.#readAtMs >= maxAgeMs;
  }

  async #readChanged(): Promise<void> {
    const { store, log } = this.#options;
    const changed = this.#changed;
    const mustReadAll = this.#mustReadAll || this.#isOld;
    // Resets the marks before the queries: what changes during them is read once more.
    this.#changed = new Set();
    this.#mustReadAll = false;
    try {
      if (mustReadAll) await this.#readAll();
      else {
        for (const liveStreamId of changed) this.#set(liveStreamId, await store.findOpen(liveStreamId));
      }
      await this.#endExpired();
    } catch (error) {
      this.#mustReadAll = true;
      log.warn('cluster-broadcasts-not-read', { error });
    }
  }

  async #readAll(): Promise<void> {
    const { store, clock, listNodes } = this.#options;
    const readAtMs = clock.monotonicMs();
    this.#nodes = new Map((await listNodes()).map(node => [node.id, node]));
    const open = new Map((await store.listOpen()).map(one => [one.liveStreamId, one]));
    for (const liveStreamId of new Set([...this.#byStream.keys(), ...open.keys()])) {
      this.#set(liveStreamId, open.get(liveStreamId));
    }
    this.#readAtMs = readAtMs;
  }

  #set(liveStreamId: string, open: ClaimedBroadcast | undefined): void {
    if (open === undefined || open.nodeId === this.#options.nodeId) {
      if (!this.#byStream.delete(liveStreamId)) return;
    } else this.#byStream.set(liveStreamId, open);
    this.#events.emit('state-changed', { liveStreamId });
  }

  async #endExpired(): Promise<void> {
    const { store } = this.#options;
    const waiting = [...this.#byStream.values()].filter(({ nodeId }) => nodeId === undefined);
    if (waiting.length === 0) return;
    const nowMs = await store.nowMs();
    for (const one of waiting) if (isOver(one, nowMs)) await this.#end(one.liveStreamId);
  }

  async #end(liveStreamId: string): Promise<void> {
    const { database, store, history, clock } = this.#options;
    await database.transaction(async transaction => {
      await transaction.lock('live', liveStreamId);
      const open = await store.findOpen(liveStreamId, transaction);
      if (open === undefined || !isOver(open, await store.nowMs(transaction))) return;
      const reason =
        open.requestedEnd ?? (open.expiresAtMs === undefined ? 'server-crashed' : 'publisher-gone');
      await history.ended(open.broadcastId, clock.nowMs(), reason, undefined, transaction);
      await database.signals.send('live', liveStreamId, transaction);
    });
  }
}

/**
 * Tells whether the broadcast is over. One without a server and an expiry was left by a crash of an earlier
 * version.
 */
function isOver({ nodeId, requestedEnd, expiresAtMs }: ClaimedBroadcast, nowMs: number): boolean {
  if (nodeId !== undefined) return false;
  return requestedEnd !== undefined || expiresAtMs === undefined || expiresAtMs <= nowMs;
}
