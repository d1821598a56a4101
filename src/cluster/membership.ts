import type { Component } from '../shared/lifecycle.ts';
import type { ClusterNode, ClusterNodes, LeaderLease } from './node.ts';

export type SelfNode = Omit<ClusterNode, 'startedAtMs' | 'isDraining'>;

/** Membership of this node in the cluster that shares the database. */
export interface ClusterMembership extends ClusterNodes, Component {
  /** Id of {@link ClusterNodes.self}. */
  readonly id: string;
  /** Returns the same leader lease for the same name. */
  leaderLease(name: string): LeaderLease;
  /** False once other nodes may take over what this one does. */
  readonly hasLease: boolean;
  /** True while the stored lease lasts, which is longer than {@link hasLease}: until then, nothing was taken over. */
  readonly isLeaseStored: boolean;
  /**
   * True when it has had its lease for long enough that other nodes could renew theirs, as after the database was
   * away.
   */
  readonly isSettled: boolean;
  /** The last list that could be read. */
  readonly lastListed: readonly ClusterNode[];
  isAlone(): Promise<boolean>;
  /** Called before other nodes take over what this one does. */
  onLeaseLost(listener: () => void): void;
  /** Says why this node takes no part now, or undefined. */
  readonly fault: string | undefined;
  /** Tells others of a change of {@link ClusterNodes.self}, such as its ports. */
  announce(): Promise<void>;
  /** Tells others to expect no more of this node. Leader leases go to another one. */
  beginDrain(): Promise<void>;
}
