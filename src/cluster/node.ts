import type { NodeRole } from '../shared/node-roles.ts';

/** A server that shares its database with others. */
export interface ClusterNode {
  /** Id that is kept in the data folder, so that a node that restarts is the same one. */
  readonly id: string;
  readonly roles: readonly NodeRole[];
  /** Base address at which other nodes and viewers reach it. */
  readonly url: string;
  /** Base address of the media that it packages, such as a CDN in front of it. */
  readonly mediaUrl: string;
  readonly version: string;
  readonly startedAtMs: number;
  /** True when it takes no new publishers, jobs or viewers. */
  readonly isDraining: boolean;
}

/** Nodes whose lease has not run out. */
export interface ClusterNodes {
  readonly self: ClusterNode;
  list(): Promise<readonly ClusterNode[]>;
  /**
   * Called on one of the nodes when another one left or its lease ran out, until `listener` has succeeded: it takes over
   * what that node was doing.
   */
  onExpired(listener: (nodeId: string) => Promise<void>): void;
}

/**
 * Something that only one node does at a time, such as periodic tasks. A node that can no longer renew its lease stops
 * before another one takes it.
 */
export interface LeaderLease {
  readonly isLeader: boolean;
  /** `take` runs each time this node takes the lease, `leave` when it lost it. */
  on(listeners: { readonly take: () => void; readonly leave: () => Promise<void> | void }): void;
}
