import type { ClusterMembership, SelfNode } from './membership.ts';
import type { ClusterNode, LeaderLease } from './node.ts';

const heldLeaderLease: LeaderLease = { isLeader: true, on: ({ take }) => take() };

/** The only server of an SQLite database. */
export class SingleNode implements ClusterMembership {
  readonly name = 'nodes';
  readonly #self: () => SelfNode;
  readonly #startedAtMs: number;
  #isDraining = false;

  constructor(self: () => SelfNode, startedAtMs: number) {
    this.#self = self;
    this.#startedAtMs = startedAtMs;
  }

  get id(): string {
    return this.#self().id;
  }

  get self(): ClusterNode {
    return { ...this.#self(), startedAtMs: this.#startedAtMs, isDraining: this.#isDraining };
  }

  async list(): Promise<readonly ClusterNode[]> {
    return [this.self];
  }

  onExpired(): void {}

  leaderLease(): LeaderLease {
    return heldLeaderLease;
  }

  readonly hasLease = true;
  readonly isLeaseStored = true;
  readonly lastListed = [];
  readonly isSettled = true;
  readonly fault = undefined;

  async isAlone(): Promise<boolean> {
    return true;
  }

  onLeaseLost(): void {}

  async announce(): Promise<void> {}

  async beginDrain(): Promise<void> {
    this.#isDraining = true;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {}
}
