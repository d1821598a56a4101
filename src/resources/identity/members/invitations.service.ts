import type { PeerRequest } from '../../../http/listener/client-address.ts';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import { operatorCommand } from '../../../shared/installation.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { RemovedCredentials } from '../accounts/removed-credentials.ts';
import type { VerificationMails } from '../accounts/verification-mails.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { PasswordCheck } from '../sessions/password-check.ts';
import type { Session, User } from '../sessions/session.ts';
import type { SessionView } from '../sessions/sessions.schema.ts';
import type { SessionsService, SignedIn, SignInOrigin } from '../sessions/sessions.service.ts';
import type { InvitationMails } from './invitation-mails.ts';
import type { InvitationsStore } from './invitations.store.ts';
import {
  type Invitation,
  invitationLifetimeMs,
  invitationTokenLength,
  maxInvitations,
  maxMembers,
  type Role,
} from './member.ts';
import { requireVerified } from './members.service.ts';

interface InvitationsServiceOptions {
  readonly store: InvitationsStore;
  readonly accounts: AccountsStore;
  readonly audit: AuditLog;
  readonly sessions: SessionsService;
  readonly passwords: PasswordCheck;
  readonly verificationMails: VerificationMails;
  readonly publicUrl: () => string;
  /** Undefined if the server sends no mails. */
  readonly mails: InvitationMails | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** An invitation, for the person who has its token. */
interface OpenedInvitation extends Invitation {
  readonly accountName: string | undefined;
  readonly ownerEmail: EmailAddress | undefined;
  /** The person has a user already, and must be signed in to accept. */
  readonly hasUser: boolean;
  /** The token was only mailed: it proves the address. */
  readonly isMailed: boolean;
}

export class InvitationsService {
  readonly #options: InvitationsServiceOptions;

  constructor(options: InvitationsServiceOptions) {
    this.#options = options;
  }

  list({ accountId }: SessionCaller): Promise<Invitation[]> {
    return this.#options.store.list(accountId, this.#options.clock.nowMs());
  }

  find({ accountId }: SessionCaller, invitationId: string): Promise<Invitation | undefined> {
    return this.#options.store.find(accountId, invitationId, this.#options.clock.nowMs());
  }

  /**
   * Replaces an earlier invitation of the same person. A mail is sent in the background.
   * @throws AppError `already-member`, `email-unverified`, `invitation-limit-reached` or `member-limit-reached`
   */
  async create(
    caller: SessionCaller,
    invited: { email: EmailAddress; role: Role },
  ): Promise<{ invitation: Invitation; url: string }> {
    requireVerified(caller);
    const { accountId, sessionId } = caller;
    const { store, accounts, publicUrl, mails, clock, log } = this.#options;
    const { email } = invited;
    const token = randomBase62(invitationTokenLength);
    // The inviter never sees it, so that it proves the address.
    const mailToken = mails && randomBase62(invitationTokenLength);
    const createdAtMs = clock.nowMs();
    const invitation = await accounts.changeAccess(accountId, async transaction => {
      const user = await accounts.findUser(email, transaction);
      const member = user && (await accounts.members.find(accountId, user.userId, transaction));
      if (member !== undefined)
        throw new AppError('already-member', undefined, { details: { name: 'email' } });
      await this.#requireRoom(accountId, transaction);
      const open = await store.list(accountId, createdAtMs, transaction);
      if (open.filter(one => one.email !== email).length >= maxInvitations) {
        const detail = `The account has ${maxInvitations} open invitations, which is the maximum. Revoke one first.`;
        throw new AppError('invitation-limit-reached', undefined, { details: { detail } });
      }
      const expiresAtMs = createdAtMs + invitationLifetimeMs;
      const { role } = invited;
      const mail = mails && ({ status: 'sending' } as const);
      return store.add(
        { accountId, email, role, token, mailToken, createdAtMs, expiresAtMs, mail },
        transaction,
      );
    });
    log.info('member-invited', { accountId, invitationId: invitation.invitationId, role: invited.role });
    const urlOf = (secret: string) => `${publicUrl()}/dashboard/invitations/${secret}`;
    if (mails !== undefined && mailToken !== undefined) {
      const inviter = await accounts.sessions.find(sessionId);
      await mails.send({ invitation, url: urlOf(mailToken), inviter });
    }
    return { invitation, url: urlOf(token) };
  }

  async revoke({ invitationId, accountId }: Invitation): Promise<void> {
    await this.#options.store.remove(invitationId);
    this.#options.log.info('invitation-revoked', { accountId, invitationId });
  }

  async open(token: string): Promise<OpenedInvitation | undefined> {
    const { store, accounts, clock } = this.#options;
    const invitation = await store.findByToken(token, clock.nowMs());
    if (invitation === undefined) return undefined;
    const account = await accounts.find(invitation.accountId);
    const user = await accounts.findUser(invitation.email);
    return {
      ...invitation,
      accountName: account?.name,
      ownerEmail: account?.email,
      hasUser: user !== undefined && (user.isVerified || !invitation.isMailed),
    };
  }

  /**
   * Adds the person to the account, and switches to it. A person without a user, or with one that is unverified when the token was
   * mailed, sets a password and is signed in. Returns the secret of a session that has started.
   * @param session of the request
   * @throws AppError `invitation-of-other-user`, `email-unverified`, `authorization-suspended-account`,
   * `member-limit-reached` or `resource-not-found`
   */
  async accept(
    invitation: OpenedInvitation,
    password: string | undefined,
    from: SignInOrigin,
    session: Session | undefined,
  ): Promise<{ view: SessionView; secret: string | undefined }> {
    if (!invitation.hasUser) {
      return this.acceptAsNew(invitation, { password, isVerified: invitation.isMailed }, from);
    }
    if (session?.email !== invitation.email) {
      const detail = `Sign in as ${invitation.email} first, then open the invitation again.`;
      throw new AppError('invitation-of-other-user', undefined, { details: { detail } });
    }
    const { accounts } = this.#options;
    const { sessionId, userId } = session;
    await accounts.changeAccess(invitation.accountId, async transaction => {
      await this.join(invitation, userId, from.request, transaction);
      await accounts.sessions.setAccount(sessionId, invitation.accountId, transaction);
    });
    return { view: await this.#accepted(invitation, sessionId), secret: undefined };
  }

  /**
   * Adds a user with the address of the invitation, or proves the address of an unverified one, and signs them in. Ends the
   * session that the request came with.
   * @param person `isVerified`: the address is proved
   * @param prove throws to refuse. It runs in the same transaction with the user
   */
  async acceptAsNew(
    invitation: Invitation,
    person: { readonly password: string | undefined; readonly isVerified: boolean },
    { request, before }: SignInOrigin,
    prove: (userId: string, transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<SignedIn> {
    const { accounts, sessions, verificationMails } = this.#options;
    const { accountId, email } = invitation;
    const { isVerified } = person;
    const passwordHash = await this.#hash(invitation, person.password);
    const started = async (transaction: Transaction) => {
      await transaction.lock('accounts');
      await this.#consume(invitation, transaction);
      const user = await accounts.findUser(email, transaction);
      const removed =
        user && (await this.#claim(invitation, user, { isVerified, passwordHash }, transaction));
      const userId =
        user?.userId ?? (await this.#addUser(invitation, { isVerified, passwordHash }, transaction));
      await prove(userId, transaction);
      if (before !== undefined) await accounts.sessions.removeBySecret(before, transaction);
      await this.#record(invitation, userId, request, transaction);
      return { ...(await sessions.add({ userId, accountId }, request, transaction)), userId, removed };
    };
    const { userId, sessionId, secret, removed } = await accounts.changeAccess(accountId, started, {
      changed: 'user',
    });
    const view = await this.#accepted(invitation, sessionId);
    if (removed === undefined) return { view, secret };
    verificationMails.send({ userId, email }, removed);
    return { view: { ...view, removedCredentials: { ...removed } }, secret };
  }

  /** Proves the address of a user whom somebody else may have set up. */
  async #claim(
    invitation: Invitation,
    { userId, email }: User,
    { isVerified, passwordHash }: { isVerified: boolean; passwordHash: string },
    transaction: Transaction,
  ): Promise<RemovedCredentials> {
    const { accounts, clock } = this.#options;
    const atMs = clock.nowMs();
    const removed = isVerified
      ? await accounts.verify({ userId }, { passwordHash, atMs }, transaction)
      : undefined;
    if (removed !== undefined) {
      await this.#addMember(invitation, userId, transaction);
      await accounts.members.leaveOthers(userId, invitation.accountId, transaction);
      return { ...removed, unknownApiKeys: 0 };
    }
    const detail = `A user with the address ${email} was created a moment ago. Sign in, then open the invitation again.`;
    throw new AppError('invitation-of-other-user', undefined, { details: { detail } });
  }

  /** Adds a user, who has the address of the invitation, to the account. */
  async join(
    invitation: Invitation,
    userId: string,
    request: PeerRequest,
    transaction: Transaction,
  ): Promise<void> {
    const { accountId, email } = invitation;
    await transaction.lock('account', accountId);
    await transaction.lock('user', userId);
    await this.#requireVerified(email, transaction);
    await this.#consume(invitation, transaction);
    await this.#addMember(invitation, userId, transaction);
    await this.#record(invitation, userId, request, transaction);
  }

  async #addMember({ accountId, role }: Invitation, userId: string, transaction: Transaction): Promise<void> {
    const { accounts, clock } = this.#options;
    if ((await accounts.members.find(accountId, userId, transaction)) !== undefined) return;
    await accounts.members.add({ accountId, userId, role, createdAtMs: clock.nowMs() }, transaction);
  }

  #accepted({ accountId, invitationId }: Invitation, sessionId: string): Promise<SessionView> {
    this.#options.log.info('invitation-accepted', { accountId, invitationId, sessionId });
    return this.#options.sessions.view({ sessionId });
  }

  #record(
    { accountId, email }: Invitation,
    userId: string,
    request: PeerRequest,
    transaction: Transaction,
  ): Promise<void> {
    return this.#options.audit.recordSignIn({ accountId, userId, email }, 'joined', request, transaction);
  }

  async #hash({ email }: Invitation, password: string | undefined): Promise<string> {
    if (password === undefined) throw attributeError('password', 'Choose a password.');
    return this.#options.passwords.hash(password, { email, attribute: 'password' });
  }

  async #addUser(
    invitation: Invitation,
    user: { isVerified: boolean; passwordHash: string },
    transaction: Transaction,
  ): Promise<string> {
    const { accounts, clock } = this.#options;
    const { accountId, email, role } = invitation;
    const createdAtMs = clock.nowMs();
    return accounts.addUser({ accountId, email, ...user, createdAtMs, role }, transaction);
  }

  /** A user whose address is not proved may be somebody else: they stay in the account that they are in. */
  async #requireVerified(email: EmailAddress, transaction: Transaction): Promise<void> {
    const { accounts, mails } = this.#options;
    if ((await accounts.findUser(email, transaction))?.isVerified === true) return;
    const advice =
      mails === undefined
        ? `Ask the operator to run this on the server: ${operatorCommand('account', `verify ${email}`)}`
        : 'Open the link that was sent to you by email, or request a new password on the sign-in page.';
    const detail = `Until ${email} is verified, it can be in one account only. ${advice}`;
    throw new AppError('email-unverified', undefined, { details: { detail } });
  }

  /** An invitation works once. */
  async #consume({ invitationId, accountId }: Invitation, transaction: Transaction): Promise<void> {
    if (!(await this.#options.store.remove(invitationId, transaction))) {
      throw new AppError('resource-not-found', undefined, { details: { name: 'token' } });
    }
    await this.#requireRoom(accountId, transaction);
  }

  async #requireRoom(accountId: string, transaction: Transaction): Promise<void> {
    if ((await this.#options.accounts.members.count(accountId, transaction)) < maxMembers) return;
    const detail = `The account has ${maxMembers} members, which is the maximum. Remove one first.`;
    throw new AppError('member-limit-reached', undefined, { details: { detail } });
  }
}
