import type { Clock } from '../../../shared/clock.ts';
import type { PeriodicTask } from '../../../shared/scheduling/periodic-tasks.ts';
import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import type { Database } from '../../../store/database.ts';
import { KeyPairsStore } from '../accounts/key-pairs.store.ts';
import { TokensStore } from './tokens.store.ts';

/** A client that requests a token with every call leaves millions of rows. */
const batchSize = 1_000;
/** Batch size of the oldest tokens; smaller, because the query skips the newest ones first. */
const oldestBatchSize = 250;

/** Half a day of one token a second. */
const maxRefreshTokensPerKey = 50_000;

/** Removes expired tokens, revoked keys, and the oldest refresh tokens beyond `maxRefreshTokens`. */
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
  const keys = new KeyPairsStore(database);
  const removeInvalid = () =>
    database.transaction(
      async transaction =>
        (await tokens.removeInvalid(clock.nowMs(), batchSize, transaction)) ||
        keys.removeRevoked(transaction),
    );
  return {
    name: 'dead-tokens',
    run: async () => {
      let count = 0;
      for (let removed = await removeInvalid(); removed > 0; removed = await removeInvalid()) {
        count += removed;
        await yieldToEventLoop();
      }
      for (let key = await keys.nextKeyId(''); key !== undefined; key = await keys.nextKeyId(key)) {
        let removed: number;
        do {
          removed = await tokens.removeOldest(key, maxRefreshTokens, oldestBatchSize);
          count += removed;
          await yieldToEventLoop();
        } while (removed > 0);
      }
      return count;
    },
  };
}
