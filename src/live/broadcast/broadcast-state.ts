/**
 * States of a broadcast: `starting` until its first segment, `live`, `waiting` after the publisher's connection was lost, `stopping` after
 * the publisher stopped, `ended`. A publisher that comes back in time continues a broadcast that is waiting or stopping.
 */
export const broadcastStates = ['starting', 'live', 'waiting', 'stopping', 'ended'] as const;

/** A state of {@link broadcastStates}. */
export type BroadcastState = (typeof broadcastStates)[number];

/** Why a broadcast ended. Kept with it. */
export const endReasons = [
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
] as const;

/** A reason of {@link endReasons}. */
export type EndReason = (typeof endReasons)[number];

const allowedTransitions: Readonly<Record<BroadcastState, readonly BroadcastState[]>> = {
  starting: ['live', 'waiting', 'stopping', 'ended'],
  live: ['waiting', 'stopping', 'ended'],
  waiting: ['starting', 'live', 'stopping', 'ended'],
  stopping: ['starting', 'live', 'waiting', 'ended'],
  ended: [],
};

/** Whether a broadcast may go from one state to another. */
export function canTransition(from: BroadcastState, to: BroadcastState): boolean {
  return allowedTransitions[from].includes(to);
}
