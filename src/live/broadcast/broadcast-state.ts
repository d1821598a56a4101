/** `waiting`: connection lost. `stopping`: the publisher stopped. It can resume the broadcast from both. */
export const broadcastStates = ['starting', 'live', 'waiting', 'stopping', 'ended'] as const;

export type BroadcastState = (typeof broadcastStates)[number];

/** `moved`: another server continues the broadcast. */
const endReasons = [
  'publisher-stopped',
  'publisher-gone',
  'completed',
  'deleted',
  'account-suspended',
  'sandbox-limit',
  'unsupported-codec',
  'no-keyframe',
  'no-media',
  'limit-exceeded',
  'picture-too-large',
  'packager-failed',
  'server-stopped',
  'server-crashed',
  'moved',
] as const;

export type EndReason = (typeof endReasons)[number];

const allowedTransitions: Readonly<Record<BroadcastState, readonly BroadcastState[]>> = {
  starting: ['live', 'waiting', 'stopping', 'ended'],
  live: ['waiting', 'stopping', 'ended'],
  waiting: ['starting', 'live', 'stopping', 'ended'],
  stopping: ['starting', 'live', 'waiting', 'ended'],
  ended: [],
};

export function canTransition(from: BroadcastState, to: BroadcastState): boolean {
  return allowedTransitions[from].includes(to);
}
