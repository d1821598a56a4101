import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { PeriodicTask } from '../../shared/periodic-tasks.ts';
import type { Database } from '../../store/database.ts';
import { TokensStore } from './tokens.store.ts';

/** Rows that are removed in one go; a client that asks for a token with every request leaves millions. */
const atOnce = 1_000;

/** Removes tokens that expired, and revoked keys with the tokens that were made from them. */
export function tokenChore({ database, clock }: { database: Database; clock: Clock }): PeriodicTask {
  const tokens = new TokensStore(database);
  return {
    name: 'dead-tokens',
    run: async () => {
      let count = 0;
      for (;;) {
        const removed = tokens.removeDead(clock.nowMs(), atOnce);
        if (removed === 0) return count;
        count += removed;
        await nextTurn();
      }
    },
  };
}
