import type { Logger } from '../shared/logger.ts';
import type { Signals } from '../store/signals.ts';
import { NodeLeaderLease } from './leader-lease.ts';
import type { NodeRun, NodeStore } from './node.store.ts';

interface LeaderLeasesOptions {
  readonly store: Pick<
    NodeStore,
    'takeLeaderLeases' | 'listHeldLeaderLeases' | 'handOverLeaderLease' | 'releaseLeaderLeases'
  >;
  readonly signals: Signals;
  /** Read at each use: a node that joins again is another run. */
  readonly run: () => NodeRun;
  /** True while the node runs and has a lease. */
  readonly hasLease: () => boolean;
  readonly log: Logger;
}

/** Asks the run `holder` to hand a leader lease over to the run `to`. */
interface HandoverRequest {
  readonly name: string;
  readonly holder: string;
  readonly to: NodeRun;
}

/**
 * The leader leases of one node. It takes all that are free, so that none waits, and asks the node that has most for its share, one by
 * one. A node hands over only what another one asked for: the others may not want it.
 */
export class LeaderLeases {
  readonly #options: LeaderLeasesOptions;
  readonly #leases = new Map<string, NodeLeaderLease>();
  /** The node that asked for each. */
  #requests = new Map<string, NodeRun>();

  constructor(options: LeaderLeasesOptions) {
    this.#options = options;
  }

  find(name: string): NodeLeaderLease | undefined {
    return this.#leases.get(name);
  }

  add(name: string): NodeLeaderLease {
    const { hasLease, log } = this.#options;
    const lease = new NodeLeaderLease(name, hasLease, log);
    this.#leases.set(name, lease);
    return lease;
  }

  /** Calls `requested` when another node asks for one. @returns stops listening */
  listen(requested: () => void): () => void {
    return this.#options.signals.listen('leader-leases', payload => {
      if (payload === undefined) return;
      const { name, holder, to } = JSON.parse(payload) as HandoverRequest;
      if (holder !== this.#options.run().runId || !this.#leases.has(name)) return;
      this.#requests.set(name, to);
      requested();
    });
  }

  /** @param peers ids of the nodes that take leader leases, this one included */
  async share(peers: readonly string[]): Promise<void> {
    await this.#takeFree();
    const share = Math.floor(this.#leases.size / Math.max(1, peers.length));
    await this.#handOver(share);
    if (this.#countHeld() < share) await this.#askForOne(peers);
  }

  /** Leaves all of them, and lets other nodes take them. */
  async giveAway(): Promise<void> {
    await this.leave();
    await this.#options.store.releaseLeaderLeases(this.#options.run());
  }

  /** Resolves when all listeners have left. */
  async leave(): Promise<void> {
    await Promise.all([...this.#leases.values()].map(lease => lease.leave()));
  }

  async #takeFree(): Promise<void> {
    const { store, run, hasLease } = this.#options;
    const free = [...this.#leases.values()].filter(({ isInUse }) => !isInUse);
    if (free.length === 0) return;
    const self = run();
    const names = free.map(({ name }) => name);
    const taken = await store.takeLeaderLeases(self, names);
    // A run that began meanwhile has none of them.
    if (!hasLease() || run().runId !== self.runId) return;
    for (const lease of free) if (taken.has(lease.name)) lease.take();
  }

  async #handOver(share: number): Promise<void> {
    const requests = this.#requests;
    this.#requests = new Map();
    for (const [name, to] of requests) {
      const lease = this.#leases.get(name);
      if (lease?.isLeader !== true || this.#countHeld() <= share) continue;
      await lease.leave();
      await this.#options.store.handOverLeaderLease(this.#options.run(), name, to);
    }
  }

  /** Asks the node that has the most. */
  async #askForOne(peers: readonly string[]): Promise<void> {
    const { store, signals, run } = this.#options;
    const to = run();
    const held = (await store.listHeldLeaderLeases()).filter(
      ({ name, holder }) => this.#leases.has(name) && holder.runId !== to.runId && peers.includes(holder.id),
    );
    const groups = [...Map.groupBy(held, ({ holder }) => holder.runId)];
    const [holder, leases = []] = groups.sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
    // One more than here is even.
    if (holder === undefined || leases.length < this.#countHeld() + 2) return;
    // Nodes that ask at the same time should ask for different ones.
    const { name } = leases[Math.floor(Math.random() * leases.length)]!;
    await signals.send('leader-leases', JSON.stringify({ name, holder, to } satisfies HandoverRequest));
  }

  #countHeld(): number {
    return [...this.#leases.values()].filter(({ isLeader }) => isLeader).length;
  }
}
