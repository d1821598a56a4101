import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { BroadcastClaims } from '../../../../../src/resources/live/broadcasts/broadcast-claims.ts';
import { ClaimKeeper } from '../../../../../src/resources/live/broadcasts/claim-keeper.ts';
import { systemClock } from '../../../../../src/shared/clock.ts';
import { silentLogger } from '../../../../../src/shared/logger.ts';
import type { Database } from '../../../../../src/store/database.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A keeper of the broadcast `br1` that has checked its claim once. */
async function startKeeper() {
  const state = { isLeaseStored: true, isAnotherReady: false, isReachable: true, isOpen: true };
  const moved: string[] = [];
  const removed: (string | undefined)[] = [];
  const claimed = { broadcastId: 'br1', liveStreamId: 'li1', claim: 1, state: 'live' };
  const store = {
    listOf: async () => {
      if (!state.isReachable) throw new Error('PostgreSQL does not answer');
      return state.isOpen ? [claimed] : [];
    },
    findOpen: async () => undefined,
  };
  const keeper = new ClaimKeeper({
    database: { signals: { listen: () => () => {} } } as unknown as Database,
    claims: {
      store,
      hasOwn: true,
      claimOf: () => 1,
      releaseAllOf: async () => {},
    } as unknown as BroadcastClaims,
    nodeId: 'node',
    local: {
      running: () => [{ broadcastId: 'br1', liveStreamId: 'li1', hasActivePublisher: () => true }],
      move: async (_id, description) => void moved.push(description),
      complete: async () => {},
      suspend: () => true,
      remove: async (_id, description) => void removed.push(description),
    },
    canMove: async () => true,
    isLeaseStored: () => state.isLeaseStored,
    isAnotherReady: async () => state.isAnotherReady,
    clock: systemClock,
    log: silentLogger,
  });
  onTestFinished(() => keeper.stop());
  await keeper.start();
  keeper.wake();
  await vi.advanceTimersByTimeAsync(2_000);
  return { state, moved, removed };
}

test('publishers stay while the lease is stored, however slow the database is', async () => {
  const { state, moved } = await startKeeper();
  Object.assign(state, { isReachable: false, isAnotherReady: true });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(moved).toEqual([]);
});

test('publishers stay while no server can use the database', async () => {
  const { state, moved } = await startKeeper();
  Object.assign(state, { isReachable: false, isLeaseStored: false });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(moved).toEqual([]);
  Object.assign(state, { isReachable: true, isLeaseStored: true, isAnotherReady: true });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(moved).toEqual([]);
});

test('publishers are told to reconnect once another server can take their broadcasts', async () => {
  const { state, moved } = await startKeeper();
  Object.assign(state, { isReachable: false, isLeaseStored: false, isAnotherReady: true });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(new Set(moved)).toEqual(new Set(['The server cannot reach its database. Reconnect.']));
});

test('a publisher whose broadcast was ended through another server is not told that its live stream was deleted', async () => {
  const { state, removed } = await startKeeper();
  state.isOpen = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(removed[0]).toBe('This broadcast was ended through another server. Reconnect to start a new one.');
});
