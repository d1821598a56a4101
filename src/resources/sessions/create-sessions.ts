import type { AddressOf, IsSecure } from '../../http/listener/client-address.ts';
import { sameOriginCheck } from '../../http/listener/same-origin.ts';
import type { Route } from '../../http/routing/route.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Database } from '../../store/database.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import { SessionGate } from './session-gate.ts';
import { sessionRoutes } from './sessions.routes.ts';
import { SessionsService } from './sessions.service.ts';
import { SessionsStore } from './sessions.store.ts';

const cleanupBatchSize = 1_000;

/** How it is told where requests come from. */
export interface PeerReaders {
  readonly addressOf: AddressOf;
  readonly isSecure: IsSecure;
}

/** Signing in, and what the rest of the API needs of it. */
export interface Sessions {
  readonly routes: readonly Route[];
  readonly gate: SessionGate;
  /** Removes sessions that expired. */
  readonly cleanup: PeriodicTask;
}

/** Puts signing in together. */
export function createSessions(options: {
  database: Database;
  accounts: AccountsStore;
  publicUrl: () => string;
  peers: PeerReaders;
  clock: Clock;
  log: Logger;
}): Sessions {
  const { database, accounts, publicUrl, clock, log } = options;
  const { addressOf, isSecure } = options.peers;
  const store = new SessionsStore(database, accounts);
  const isOwnSite = sameOriginCheck({ publicUrl, isSecure });
  const gate = new SessionGate({ store, isOwnSite, isSecure, clock, log });
  return {
    routes: sessionRoutes(new SessionsService({ store, accounts, addressOf, clock, log }), gate),
    gate,
    cleanup: {
      name: 'expired-sessions',
      run: async () => {
        let count = 0;
        for (;;) {
          const removed = store.removeExpired(clock.nowMs(), cleanupBatchSize);
          if (removed === 0) return count;
          count += removed;
          await yieldToEventLoop();
        }
      },
    },
  };
}
