/** The node that runs the jobs, as the queue sees it. */
export interface JobOwner {
  readonly id: string;
  /** False once other nodes may take over what this one does. */
  readonly hasLease: boolean;
  /** False right after the database was away: other nodes may not have renewed their leases yet. */
  readonly isSettled: boolean;
  /** No other node uses the database. */
  isAlone(): Promise<boolean>;
  /** Called on one node when another one left or died. */
  onExpired(listener: (nodeId: string) => Promise<void>): void;
  onLeaseLost(listener: () => void): void;
}

/** The one server of its database. */
export const onlyOwner: JobOwner = {
  id: 'only',
  hasLease: true,
  isSettled: true,
  isAlone: async () => true,
  onExpired() {},
  onLeaseLost() {},
};
