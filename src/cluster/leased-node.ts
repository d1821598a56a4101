import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import { randomBase62 } from '../shared/ids.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import type { Database } from '../store/database.ts';
import { ExpiredNodes } from './expired-nodes.ts';
import { LeaderLeases } from './leader-leases.ts';
import type { ClusterMembership, SelfNode } from './membership.ts';
import { type NodeRun, NodeStore, type StoredNode } from './node.store.ts';
import type { ClusterNode, LeaderLease } from './node.ts';
import { type LeaseTimes, NodeLease } from './node-lease.ts';
import { SharedUrlWarning } from './shared-url-warning.ts';

const listedForMs = 1_000;
/** Renewals within which another process with the id of this node shows that it lives. */
const watchedRenewals = 3;
/** A renewal that hangs must not keep the next one. */
const maxRenewals = 3;

interface LeasedNodeOptions {
  readonly database: Database;
  readonly place: string;
  readonly schemaVersion: number;
  /** Read at each renewal. */
  readonly self: () => SelfNode;
  readonly times: LeaseTimes;
  readonly clock?: Clock;
  readonly log: Logger;
}

/** One of the nodes that share a PostgreSQL database. */
export class LeasedNode implements ClusterMembership {
  readonly name = 'nodes';
  readonly #database: Database;
  readonly #options: LeasedNodeOptions;
  readonly #times: LeaseTimes;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #store: NodeStore;
  readonly #lease: NodeLease;
  readonly #leaderLeases: LeaderLeases;
  readonly #expired: ExpiredNodes;
  readonly #sharedUrl: SharedUrlWarning;
  readonly #sharing = new CoalescedTask(() => this.#shareLeaderLeases());
  #runId = randomBase62(22);
  #startedAtMs: number;
  #isDraining = false;
  #state: 'new' | 'started' | 'stopped' = 'new';
  readonly #leaseListeners: (() => void)[] = [];
  #renewals = 0;
  #renewTimer: NodeJS.Timeout | undefined;
  #joining: Promise<void> | undefined;
  #stopListening = () => {};
  #listed: { readonly nodes: Promise<ClusterNode[]>; readonly untilMs: number } | undefined;
  #fault: string | undefined;
  lastListed: readonly ClusterNode[] = [];

  constructor(options: LeasedNodeOptions) {
    this.#options = options;
    this.#database = options.database;
    this.#times = options.times;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log.child('nodes');
    this.#store = new NodeStore(options.database, this.#clock, this.#times.leaseMs);
    this.#lease = new NodeLease(this.#times, this.#clock, () => void this.#lapse());
    this.#leaderLeases = new LeaderLeases({
      store: this.#store,
      signals: options.database.signals,
      run: () => this.#run,
      hasLease: () => this.#state === 'started' && this.hasLease,
      log: this.#log,
    });
    this.#startedAtMs = this.#clock.nowMs();
    this.#expired = new ExpiredNodes(this.#store, this, this.#log);
    this.#sharedUrl = new SharedUrlWarning(this.#times.leaseMs, this.#log);
  }

  get id(): string {
    return this.#options.self().id;
  }

  get self(): ClusterNode {
    return { ...this.#options.self(), startedAtMs: this.#startedAtMs, isDraining: this.#isDraining };
  }

  get hasLease(): boolean {
    return this.#lease.isHeld;
  }

  get isLeaseStored(): boolean {
    return this.#lease.isStored;
  }

  get isSettled(): boolean {
    return this.#lease.isSettled;
  }

  async isAlone(): Promise<boolean> {
    const { id } = this;
    return (await this.#store.list()).every(node => node.id === id);
  }

  onLeaseLost(listener: () => void): void {
    this.#leaseListeners.push(listener);
  }

  get fault(): string | undefined {
    return this.#state !== 'started' || this.hasLease ? undefined : (this.#fault ?? 'it has no lease');
  }

  /** Lists nodes from a list at most a second old. */
  list(): Promise<readonly ClusterNode[]> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#listed === undefined || this.#listed.untilMs <= nowMs) {
      const nodes = this.#store.list();
      nodes.then(
        listed => {
          this.lastListed = listed;
        },
        () => {
          this.#listed = undefined;
        },
      );
      this.#listed = { nodes, untilMs: nowMs + listedForMs };
    }
    return this.#listed.nodes;
  }

  onExpired(listener: (nodeId: string) => Promise<void>): void {
    this.#expired.on(listener);
  }

  leaderLease(name: string): LeaderLease {
    const known = this.#leaderLeases.find(name);
    if (known !== undefined) return known;
    const added = this.#leaderLeases.add(name);
    this.#requestLeaderLeases();
    return added;
  }

  async announce(): Promise<void> {
    await this.#renew();
    await this.#database.signals.send('nodes', this.id);
  }

  async beginDrain(): Promise<void> {
    this.#isDraining = true;
    await this.announce();
    this.#requestLeaderLeases();
  }

  /** @throws AppError `data-dir-unusable` when another process runs with a copy of the data folder */
  async start(): Promise<void> {
    await this.#register(true);
    this.#state = 'started';
    const stops = [
      this.#database.signals.listen('nodes', () => {
        this.#listed = undefined;
        this.#requestLeaderLeases();
      }),
      this.#leaderLeases.listen(() => this.#requestLeaderLeases()),
    ];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#renewTimer = setInterval(() => void this.#renew(), this.#times.renewEveryMs);
    await this.#shareLeaderLeases();
  }

  async stop(): Promise<void> {
    if (this.#state !== 'started') return;
    this.#state = 'stopped';
    this.#stopListening();
    clearInterval(this.#renewTimer);
    await this.#joining?.catch(() => {});
    this.#lease.stop();
    this.#sharing.cancel();
    await Promise.all([this.#sharing.idle(), this.#expired.stop()]);
    await this.#leaderLeases.leave();
    this.#lease.drop();
    // Leaves at once; otherwise, others notice when the lease runs out.
    await this.#store
      .leave(this.#run)
      .catch((error: unknown) => this.#log.warn('leave-not-stored', { error: messageOf(error) }));
  }

  get #run(): NodeRun {
    return { id: this.id, runId: this.#runId };
  }

  get #stored(): StoredNode {
    const { place, schemaVersion } = this.#options;
    const node = this.self;
    return { id: node.id, runId: this.#runId, place, schemaVersion, node };
  }

  /** @param isFirst waits until a former run elsewhere is known to have ended */
  async #register(isFirst: boolean): Promise<void> {
    let sentAtMs = this.#clock.monotonicMs();
    let registered = await this.#store.register(this.#stored);
    for (let tries = 0; typeof registered !== 'number'; tries += 1) {
      const { place, lease_until_ms: leaseUntilMs } = registered;
      if (!isFirst || tries > watchedRenewals) throw copied(this.id, place);
      await new Promise(resolve => setTimeout(resolve, this.#times.renewEveryMs + 500));
      sentAtMs = this.#clock.monotonicMs();
      const next = await this.#store.register(this.#stored);
      if (typeof next !== 'number' && next.lease_until_ms > leaseUntilMs) throw copied(this.id, place);
      registered = next;
    }
    this.#startedAtMs = registered;
    this.#extend(sentAtMs);
  }

  async #renew(): Promise<void> {
    if (this.#state !== 'started' || this.#renewals >= maxRenewals) return;
    this.#renewals += 1;
    const sentAtMs = this.#clock.monotonicMs();
    try {
      const isRenewed = await this.#store.renew(this.#stored);
      if (this.#state !== 'started') return;
      if (isRenewed) this.#extend(sentAtMs);
      else await this.#joinAgain();
      this.#requestLeaderLeases();
    } catch (error) {
      this.#fault = messageOf(error);
      this.#log.warn('lease-not-renewed', { error: this.#fault });
    } finally {
      this.#renewals -= 1;
    }
  }

  #joinAgain(): Promise<void> {
    this.#joining ??= this.#joinAsNewRun().finally(() => {
      this.#joining = undefined;
    });
    return this.#joining;
  }

  /** Joins again, after others have taken over what the former run did. */
  async #joinAsNewRun(): Promise<void> {
    this.#lease.drop();
    await this.#lapse();
    if (this.#state !== 'started') return;
    this.#runId = randomBase62(22);
    await this.#register(false);
    this.#log.info('joined-again', {});
  }

  #extend(sentAtMs: number): void {
    this.#fault = undefined;
    this.#lease.extend(sentAtMs);
  }

  async #lapse(): Promise<void> {
    if (this.hasLease) return;
    this.#log.warn('lease-lost', {});
    for (const lost of this.#leaseListeners) lost();
    await this.#leaderLeases.leave();
  }

  #requestLeaderLeases(): void {
    if (this.#state === 'started') this.#sharing.request();
  }

  async #shareLeaderLeases(): Promise<void> {
    try {
      if (!this.hasLease) return;
      if (this.#isDraining) await this.#giveLeaderLeasesAway();
      else await this.#leaderLeases.share(await this.#listPeers());
      this.#expired.request();
      this.#sharedUrl.check(this.self, await this.list(), this.#clock.monotonicMs());
    } catch (error) {
      this.#log.warn('duties-not-shared', { error: messageOf(error) });
    }
  }

  /** Nodes of other versions may do other things. */
  async #listPeers(): Promise<string[]> {
    const { version } = this.self;
    const peers = (await this.list()).filter(node => !node.isDraining && node.version === version);
    return peers.map(({ id }) => id);
  }

  /** The last node keeps them until it stops. */
  async #giveLeaderLeasesAway(): Promise<void> {
    const { id } = this;
    const others = (await this.#store.list()).filter(node => node.id !== id && !node.isDraining);
    if (others.length > 0) await this.#leaderLeases.giveAway();
  }
}

function copied(nodeId: string, place: string): AppError {
  const advice = `Remove the file node-id from the data folder of the copy, and start it again.`;
  return new AppError(
    'data-dir-unusable',
    `Another server (${place}) already runs as the node ${nodeId}: one of the data folders is a copy of the other. ${advice}`,
  );
}
