import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../shared/clock.ts';
import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { CoalescedTask } from '../../../shared/scheduling/coalesced-task.ts';
import { TypedEvents } from '../../../shared/typed-events.ts';
import type { Database } from '../../../store/database.ts';
import type { BroadcastClaimsStore, BroadcastVersion, ClaimedBroadcast } from './broadcast-claims.store.ts';
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

interface WantedReport {
  /** JSON; undefined until it is read. */
  text: string | undefined;
  readAtMs: number;
  wantedAtMs: number;
}

interface BroadcastEvents {
  'state-changed': { readonly liveStreamId: string };
}

const tickMs = 1000;
/** Signals tell of changes at once, and may be lost. */
const maxAgeMs = 10_000;
/** Age of a report that is read again when it is requested. */
const maxReportAgeMs = 5000;
/** The same for multivariant playlists. Signals tell of changes; only their bandwidths follow without. */
const maxMultivariantAgeMs = 60_000;
/** Reports nobody asked for in this time are dropped. */
const reportIdleMs = 60_000;
const maxChangedIds = 200;
const broadcastingStates: readonly string[] = ['live', 'waiting', 'stopping'];

/** The broadcasts that other servers package, as they are stored. Ends those that no server continues in time. */
export class ClusterBroadcasts implements Component {
  readonly name = 'cluster-broadcasts';
  readonly #options: ClusterBroadcastsOptions;
  readonly #events = new TypedEvents<BroadcastEvents>();
  readonly #reading = new CoalescedTask(() => this.#readChanged());
  readonly #byStream = new Map<string, ClaimedBroadcast>();
  /** Versions of all open broadcasts that were read, those of this server too. */
  readonly #versions = new Map<string, string>();
  readonly #reports = new Map<string, WantedReport>();
  readonly #readingReports = new CoalescedTask(() => this.#readReports());
  /** Times at which multivariant playlists were read, by broadcast. */
  readonly #textsReadAtMs = new WeakMap<ClaimedBroadcast, number>();
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
    for (const task of [this.#reading, this.#readingReports]) task.cancel();
    await Promise.all([this.#reading.idle(), this.#readingReports.idle()]);
  }

  /** The broadcast of another server, or of none that waits for one. */
  find(liveStreamId: string): ClaimedBroadcast | undefined {
    return this.#byStream.get(liveStreamId);
  }

  list(): Iterable<ClaimedBroadcast> {
    return this.#byStream.values();
  }

  /** Reads the report of a broadcast, as JSON. */
  async reportOf({ broadcastId }: ClaimedBroadcast): Promise<string | undefined> {
    return (await this.#options.store.findReports([broadcastId]))[0]?.report;
  }

  /** Returns the report that was read last, and reads it again soon unless it is new. */
  recentReportOf({ broadcastId, hasReport }: ClaimedBroadcast): string | undefined {
    if (!hasReport) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    let report = this.#reports.get(broadcastId);
    if (report === undefined) {
      report = { text: undefined, readAtMs: Number.NEGATIVE_INFINITY, wantedAtMs: nowMs };
      this.#reports.set(broadcastId, report);
    }
    report.wantedAtMs = nowMs;
    if (nowMs - report.readAtMs >= maxReportAgeMs) this.#readingReports.request();
    return report.text;
  }

  /** Returns the playlist that was read last, and reads it again unless it is new. */
  multivariantOf(broadcast: ClaimedBroadcast): string | undefined {
    const readAtMs = this.#textsReadAtMs.get(broadcast) ?? 0;
    if (this.#options.clock.monotonicMs() - readAtMs >= maxMultivariantAgeMs)
      this.#request(broadcast.liveStreamId);
    return broadcast.multivariant;
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
    const nodes = await listNodes();
    const haveMoved = JSON.stringify(nodes) !== JSON.stringify([...this.#nodes.values()]);
    this.#nodes = new Map(nodes.map(node => [node.id, node]));
    const versions = new Map(
      (await store.listVersions()).map(version => [version.broadcastId, textOf(version)]),
    );
    for (const broadcastId of this.#versions.keys()) {
      if (!versions.has(broadcastId)) this.#versions.delete(broadcastId);
    }
    for (const { liveStreamId, broadcastId } of [...this.#byStream.values()]) {
      if (!versions.has(broadcastId)) this.#set(liveStreamId, undefined);
    }
    const changed = [...versions].filter(([id, version]) => this.#versions.get(id) !== version);
    for (const open of await store.findAllOpen(changed.map(([id]) => id))) this.#set(open.liveStreamId, open);
    // Addresses of the playlists follow from those of the servers.
    if (haveMoved) for (const liveStreamId of this.#byStream.keys()) this.#emitChange(liveStreamId);
    this.#dropIdleReports(readAtMs);
    this.#readAtMs = readAtMs;
  }

  #set(liveStreamId: string, open: ClaimedBroadcast | undefined): void {
    const before = this.#byStream.get(liveStreamId);
    if (open !== undefined) this.#versions.set(open.broadcastId, versionOf(open));
    if (open === undefined || open.nodeId === this.#options.nodeId) {
      if (before === undefined) return;
      this.#byStream.delete(liveStreamId);
    } else {
      this.#byStream.set(liveStreamId, open);
      this.#textsReadAtMs.set(open, this.#options.clock.monotonicMs());
      if (before !== undefined && isDeepStrictEqual(before, open)) return;
    }
    this.#emitChange(liveStreamId);
  }

  #emitChange(liveStreamId: string): void {
    this.#events.emit('state-changed', { liveStreamId });
  }

  async #readReports(): Promise<void> {
    const { store, clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    const due = [...this.#reports].filter(([, { readAtMs }]) => nowMs - readAtMs >= maxReportAgeMs);
    try {
      const found = await store.findReports(due.map(([broadcastId]) => broadcastId));
      const texts = new Map(found.map(({ broadcastId, report }) => [broadcastId, report]));
      for (const [broadcastId, report] of due) {
        report.text = texts.get(broadcastId);
        report.readAtMs = nowMs;
      }
    } catch (error) {
      log.warn('cluster-reports-not-read', { error });
    }
  }

  #dropIdleReports(nowMs: number): void {
    for (const [broadcastId, { wantedAtMs }] of this.#reports) {
      if (nowMs - wantedAtMs >= reportIdleMs) this.#reports.delete(broadcastId);
    }
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

function versionOf(open: ClaimedBroadcast): string {
  return textOf({ ...open, hasMultivariant: open.multivariant !== undefined });
}

function textOf(version: BroadcastVersion): string {
  const { state, claim, expiresAtMs, requestedEnd, hasReport, hasMultivariant } = version;
  return `${state} ${claim} ${expiresAtMs} ${requestedEnd} ${hasReport} ${hasMultivariant}`;
}
