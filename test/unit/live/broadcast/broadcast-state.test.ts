import { expect, test } from 'vitest';
import {
  type BroadcastState,
  broadcastStates,
  canTransition,
} from '../../../../src/live/broadcast/broadcast-state.ts';

const allowed: Readonly<Record<BroadcastState, readonly BroadcastState[]>> = {
  starting: ['live', 'waiting', 'stopping', 'ended'],
  live: ['waiting', 'stopping', 'ended'],
  waiting: ['starting', 'live', 'stopping', 'ended'],
  stopping: ['starting', 'live', 'waiting', 'ended'],
  ended: [],
};

test.each(broadcastStates)('allows the right transitions from %s', from => {
  expect(broadcastStates.filter(to => canTransition(from, to))).toEqual(allowed[from]);
});
