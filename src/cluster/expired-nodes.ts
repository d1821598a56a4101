import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import type { ClusterMembership } from './membership.ts';
import type { NodeRun, NodeStore } from './node.store.ts';
import type { LeaderLease } from './node.ts';

type ExpiredNodeListener = (nodeId: string) => Promise<void>;

/** Takes over what nodes without a lease did, on the node that has the leader lease. */
export class ExpiredNodes {
  readonly #store: NodeStore;
  readonly #self: Pick<ClusterMembership, 'leaderLease' | 'isSettled'>;
  readonly #leaderLease: LeaderLease;
  readonly #log: Logger;
  readonly #listeners = new Set<ExpiredNodeListener>();
  /** Listeners by run: what has succeeded is not repeated. */
  readonly #succeeded = new Map<string, Set<ExpiredNodeListener>>();
  readonly #task = new CoalescedTask(() => this.#takeOver());

  constructor(store: NodeStore, self: Pick<ClusterMembership, 'leaderLease' | 'isSettled'>, log: Logger) {
    this.#store = store;
    this.#self = self;
    this.#leaderLease = self.leaderLease('gone-nodes');
    this.#log = log;
    this.#leaderLease.on({ take: () => this.request(), leave: () => this.#succeeded.clear() });
  }

  on(listener: ExpiredNodeListener): void {
    this.#listeners.add(listener);
  }

  request(): void {
    if (this.#leaderLease.isLeader) this.#task.request();
  }

  async stop(): Promise<void> {
    this.#task.cancel();
    await this.#task.idle();
  }

  async #takeOver(): Promise<void> {
    try {
      for (const run of await this.#store.listExpired(!this.#self.isSettled)) {
        if (!this.#leaderLease.isLeader) return;
        if (await this.#tellAll(run)) {
          await this.#store.removeExpired(run);
          this.#succeeded.delete(run.runId);
          this.#log.info('node-gone', { nodeId: run.id });
        }
      }
    } catch (error) {
      this.#log.warn('gone-nodes-not-read', { error: messageOf(error) });
    }
  }

  async #tellAll(run: NodeRun): Promise<boolean> {
    const succeeded = this.#succeeded.get(run.runId) ?? new Set();
    this.#succeeded.set(run.runId, succeeded);
    for (const listener of this.#listeners) {
      if (succeeded.has(listener)) continue;
      // Checks again: the node may have returned.
      if (!(await this.#store.isExpired(run))) return false;
      try {
        await listener(run.id);
        succeeded.add(listener);
      } catch (error) {
        this.#log.error('node-not-taken-over', { nodeId: run.id, error });
      }
    }
    return succeeded.size === this.#listeners.size;
  }
}
