import type { Authenticate } from '../http/routing/caller.ts';
import { RateLimiter, type RateLimits } from '../http/routing/rate-limiter.ts';
import type { ServedChange } from '../http/routing/route-requests.ts';
import type { SmtpSettings } from '../mail/mailer.ts';
import { AccessWatch } from '../resources/identity/accounts/access-watch.ts';
import { AccountsStore } from '../resources/identity/accounts/accounts.store.ts';
import { KeyPairsService } from '../resources/identity/accounts/key-pairs.service.ts';
import { KeyPairsStore } from '../resources/identity/accounts/key-pairs.store.ts';
import { UnverifiedChangesStore } from '../resources/identity/accounts/unverified-changes.store.ts';
import { recordUnverified } from '../resources/identity/accounts/unverified-changes.ts';
import { AuditLog } from '../resources/identity/audit/audit-log.ts';
import { AuthService } from '../resources/identity/auth/auth.service.ts';
import { tokenCleanup } from '../resources/identity/auth/token-cleanup.ts';
import { WrongKeyLimit } from '../resources/identity/auth/wrong-key-limit.ts';
import type { OidcSettings } from '../resources/identity/oidc/oidc-provider.ts';
import { createSessions, type PeerReaders } from '../resources/identity/sessions/create-sessions.ts';
import { environmentOf, projectOf } from '../resources/identity/sessions/session-gate.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { PeriodicTasks, type TaskLeaderLease } from '../shared/scheduling/periodic-tasks.ts';
import type { Database } from '../store/database.ts';

const tokenCleanupIntervalMs = 10 * 60_000;
interface AccessOptions {
  readonly database: Database;
  readonly publicUrl: () => string;
  readonly peers: PeerReaders;
  /** Undefined: nobody signs in with a provider. */
  readonly oidc: OidcSettings | undefined;
  /** Undefined: the server sends no mails. */
  readonly smtp: SmtpSettings | undefined;
  readonly rateLimits: RateLimits;
  /** Wrong keys per minute and client address; 0 is no limit. */
  readonly wrongKeyLimit: { readonly maxPerMinute: number };
  /** Default: this server does everything itself. */
  readonly leaderLease?: (name: string) => TaskLeaderLease;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Access {
  readonly accounts: AccountsStore;
  readonly watch: AccessWatch;
  readonly audit: AuditLog;
  readonly recordChange: (change: ServedChange) => Promise<void>;
  readonly keyPairs: KeyPairsService;
  readonly auth: AuthService;
  readonly sessions: ReturnType<typeof createSessions>;
  readonly limiter: RateLimiter;
  readonly authenticate: Authenticate;
  readonly tokenCleanup: PeriodicTasks;
}

export function createAccess(options: AccessOptions): Access {
  const { database, publicUrl, oidc, peers, smtp, clock } = options;
  const log = options.log.child('auth');
  const accounts = new AccountsStore(database);
  const watch = new AccessWatch({ database, clearCaches: () => accounts.clearCaches(), log });
  const limiter = new RateLimiter(options.rateLimits, clock);
  const wrongKeys = new WrongKeyLimit(options.wrongKeyLimit, clock);
  const auth = new AuthService({ database, accounts, limiter, wrongKeys, clock, log });
  const audit = new AuditLog({ database, addressOf: peers.addressOf, clock, log });
  const sessions = createSessions({ database, accounts, audit, publicUrl, oidc, smtp, clock, log, peers });
  const unverifiedChanges = new UnverifiedChangesStore(database);
  return {
    accounts,
    watch,
    audit,
    auth,
    sessions,
    limiter,
    recordChange: async change => {
      await recordUnverified(change, unverifiedChanges);
      await audit.recordChange(change);
    },
    keyPairs: new KeyPairsService({ store: new KeyPairsStore(database), accounts, clock }),
    authenticate: async (request, setHeader) => {
      const { authorization } = request.headers;
      const environment = authorization === undefined ? environmentOf(request) : undefined;
      return environment === undefined
        ? auth.authenticate(authorization, peers.addressOf(request))
        : sessions.gate.callerIn({ environment, pairId: projectOf(request) }, request, setHeader);
    },
    tokenCleanup: new PeriodicTasks({
      name: 'token-sweeper',
      tasks: [tokenCleanup({ database, clock }), sessions.cleanup],
      everyMs: tokenCleanupIntervalMs,
      leaderLease: options.leaderLease?.('token-cleanup'),
      log,
    }),
  };
}
