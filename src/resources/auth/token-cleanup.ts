import type { Clock } from '../../shared/clock.ts';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Database } from '../../store/database.ts';
import { TokensStore } from './tokens.store.ts';

/** Rows that are removed in one go; a client that asks for a token with every request leaves millions. */
const atOnce = 1_000;
/** Fewer, since the newest are counted off before. */
const oldestBatchSize = 250;

/** Refresh tokens of a key: half a day of one a second. */
const maxRefreshTokensPerKey = 50_000;

/**
 * Removes tokens that expired, revoked keys with the tokens that were made from them, and the oldest refresh tokens of keys that
 * have more than `refreshTokens` of them.
 */
export function tokenCleanup({
  database,
  clock,
  maxRefreshTokens = maxRefreshTokensPerKey,
}: {
  database: Database;
  clock: Clock;
  maxRefreshTokens?: number;
}): PeriodicTask {
  const tokens = new TokensStore(database);
  return {
    name: 'dead-tokens',
    run: async () => {
      let count = 0;
      for (;;) {
        const removed = tokens.removeInvalid(clock.nowMs(), atOnce);
        if (removed === 0) break;
        count += removed;
        await yieldToEventLoop();
      }
      for (let key = tokens.nextKeyId(''); key !== undefined; key = tokens.nextKeyId(key)) {
        let removed: number;
        do {
          removed = tokens.removeOldest(key, maxRefreshTokens, oldestBatchSize);
          count += removed;
          await yieldToEventLoop();
        } while (removed > 0);
      }
      return count;
    },
  };
}
