import type { Component } from '../shared/lifecycle.ts';
import type { ClusterNode, ClusterNodes, SharedDuty } from './node.ts';

export type SelfNode = Omit<ClusterNode, 'startedAtMs' | 'isDraining'>;

/** This node's place among those that share the database. */
export interface ClusterMembership extends ClusterNodes, Component {
  /** The same duty for the same name. */
  duty(name: string): SharedDuty;
  /** Says why this node takes no part now, or undefined. */
  readonly fault: string | undefined;
  /** Tells others of a change of {@link ClusterNodes.self}, such as its ports. */
  announce(): Promise<void>;
  /** Tells others to expect no more of this node. Duties go to another one. */
  beginDrain(): Promise<void>;
}
