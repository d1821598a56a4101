import type { AddressOf, IsSecure } from '../../../http/listener/client-address.ts';
import { sameOriginCheck } from '../../../http/listener/same-origin.ts';
import type { Route } from '../../../http/routing/route.ts';
import { MailQueue } from '../../../mail/mail-queue.ts';
import { Mailer, type SmtpSettings } from '../../../mail/mailer.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { PeriodicTask } from '../../../shared/scheduling/periodic-tasks.ts';
import type { Database } from '../../../store/database.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import { VerificationMails } from '../accounts/verification-mails.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { InvitationMails } from '../members/invitation-mails.ts';
import { invitationRoutes } from '../members/invitations.routes.ts';
import { InvitationsService } from '../members/invitations.service.ts';
import { InvitationsStore } from '../members/invitations.store.ts';
import { memberRoutes } from '../members/members.routes.ts';
import { MembersService } from '../members/members.service.ts';
import { oidcRoutes } from '../oidc/oidc.routes.ts';
import { OidcService } from '../oidc/oidc.service.ts';
import type { OidcSettings } from '../oidc/oidc-provider.ts';
import { Challenges } from '../passkeys/challenges.ts';
import { passkeyRoutes } from '../passkeys/passkeys.routes.ts';
import { PasskeysService } from '../passkeys/passkeys.service.ts';
import { PasskeysStore } from '../passkeys/passkeys.store.ts';
import { passwordResetRoutes } from '../password-resets/password-resets.routes.ts';
import { PasswordResetsService } from '../password-resets/password-resets.service.ts';
import { twoFactorRoutes } from '../two-factor/two-factor.routes.ts';
import { TwoFactorService } from '../two-factor/two-factor.service.ts';
import { TwoFactorStore } from '../two-factor/two-factor.store.ts';
import { PasswordCheck } from './password-check.ts';
import { SessionGate } from './session-gate.ts';
import { sessionRoutes } from './sessions.routes.ts';
import { SessionsService } from './sessions.service.ts';
import { SignInAttemptsStore } from './sign-in-attempts.store.ts';

export interface PeerReaders {
  readonly addressOf: AddressOf;
  readonly isSecure: IsSecure;
}

export function createSessions(options: {
  database: Database;
  accounts: AccountsStore;
  audit: AuditLog;
  publicUrl: () => string;
  oidc: OidcSettings | undefined;
  smtp: SmtpSettings | undefined;
  peers: PeerReaders;
  clock: Clock;
  log: Logger;
}): { routes: Route[]; gate: SessionGate; cleanup: PeriodicTask; mails: MailQueue | undefined } {
  const { database, accounts, audit, publicUrl, smtp, clock, log } = options;
  const { addressOf, isSecure } = options.peers;
  const { sessions } = accounts;
  const attempts = new SignInAttemptsStore(database);
  const isOwnSite = sameOriginCheck({ publicUrl, isSecure });
  const gate = new SessionGate({ store: sessions, isOwnSite, isSecure, publicUrl, clock, log });
  const passwords = new PasswordCheck(attempts, clock);
  const shared = { accounts, audit, passwords, addressOf, clock, log };
  const twoFactor = new TwoFactorService({ ...shared, store: new TwoFactorStore(database) });
  const service = new SessionsService({ ...shared, secondFactor: twoFactor });
  const challenges = new Challenges(database, clock);
  const passkeysStore = new PasskeysStore(database);
  const passkeys = new PasskeysService({
    accounts,
    audit,
    sessions: service,
    twoFactor,
    challenges,
    publicUrl,
    clock,
    log,
    store: passkeysStore,
  });
  const store = new InvitationsStore(database);
  const mails = smtp && new MailQueue({ mailer: new Mailer(smtp), log });
  const verificationMails = new VerificationMails({ queue: mails, publicUrl, log });
  const invitations = new InvitationsService({
    ...shared,
    store,
    sessions: service,
    verificationMails,
    publicUrl,
    mails: mails && new InvitationMails({ queue: mails, store, attempts, publicUrl, clock, log }),
  });
  const oidc = new OidcService({
    ...shared,
    database,
    sessions: service,
    invitations,
    verificationMails,
    challenges,
    publicUrl,
    settings: options.oidc,
  });
  const resets = new PasswordResetsService({
    ...shared,
    passkeys: passkeysStore,
    secondFactor: twoFactor,
    attempts,
    mails,
    publicUrl,
  });
  return {
    routes: [
      ...sessionRoutes(service, gate),
      ...twoFactorRoutes(twoFactor, gate),
      ...passkeyRoutes(passkeys, gate),
      ...passwordResetRoutes(resets, gate),
      ...oidcRoutes({ oidc, resets, gate }),
      ...memberRoutes(new MembersService({ accounts, log })),
      ...invitationRoutes({ invitations, gate, clock }),
    ],
    gate,
    mails,
    cleanup: {
      name: 'expired-sessions',
      run: async () =>
        (await removeInBatches(limit => sessions.removeExpired(clock.nowMs(), limit))) +
        (await removeInBatches(limit => store.removeExpired(clock.nowMs(), limit))) +
        (await removeInBatches(limit => accounts.passwordResets.removeExpired(clock.nowMs(), limit))) +
        (await attempts.removeExpired(clock.nowMs())) +
        (await challenges.removeExpired()),
    },
  };
}
