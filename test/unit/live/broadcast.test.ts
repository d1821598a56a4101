import { expect, test } from 'vitest';
import { type BroadcastState, broadcastStates, canFollow } from '../../../src/live/broadcast.ts';

const allowed: Readonly<Record<BroadcastState, readonly BroadcastState[]>> = {
  starting: ['live', 'waiting', 'stopping', 'ended'],
  live: ['waiting', 'stopping', 'ended'],
  waiting: ['starting', 'live', 'stopping', 'ended'],
  stopping: ['starting', 'live', 'waiting', 'ended'],
  ended: [],
};

test.each(broadcastStates)('what may follow on %s', from => {
  expect(broadcastStates.filter(to => canFollow(from, to))).toEqual(allowed[from]);
});
