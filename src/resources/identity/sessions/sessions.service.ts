import type { AddressOf, PeerRequest } from '../../../http/listener/client-address.ts';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { listScopes } from '../../../http/routing/scope.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import { operatorCommand } from '../../../shared/installation.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { Membership } from '../members/member.ts';
import { projectViewOf } from '../projects/projects.service.ts';
import type { PasswordCheck } from './password-check.ts';
import type { SecondFactor } from './second-factor.ts';
import {
  type ListedSession,
  maxUserAgentLength,
  type Session,
  sessionLifetimeMs,
  sessionSecretLength,
  type User,
} from './session.ts';
import type { ListedSessionView, SessionView } from './sessions.schema.ts';
import type { SessionsStore } from './sessions.store.ts';

export interface SignedIn {
  readonly view: SessionView;
  readonly secret: string;
}

export interface SignInOrigin {
  readonly request: PeerRequest;
  /** The secret of the session that ends. */
  readonly before: string | undefined;
}

interface SessionsServiceOptions {
  readonly accounts: AccountsStore;
  readonly audit: AuditLog;
  readonly passwords: PasswordCheck;
  readonly secondFactor: SecondFactor;
  readonly addressOf: AddressOf;
  readonly clock: Clock;
  readonly log: Logger;
}

export class SessionsService {
  readonly #options: SessionsServiceOptions;
  readonly #store: SessionsStore;

  constructor(options: SessionsServiceOptions) {
    this.#options = options;
    this.#store = options.accounts.sessions;
  }

  /**
   * Ends the session that the request came with.
   * @throws AppError `authentication-wrong-password`, with the same text and timing for an unknown user; only after the
   * right password `authorization-suspended-account`, `authentication-second-factor-required` and
   * `authentication-wrong-code`; `too-many-requests`
   */
  async signIn(
    { email, password, code }: { email: EmailAddress; password: string; code?: string | undefined },
    from: SignInOrigin,
  ): Promise<SignedIn> {
    const { accounts, audit, passwords, addressOf, log } = this.#options;
    const { request } = from;
    const address = addressOf(request);
    const user = await accounts.findUser(email);
    const { isRight, attempt } = await passwords.begin(email, address, password, user?.passwordHash);
    if (!isRight || user === undefined) {
      log.info('sign-in-refused', { address });
      if (user !== undefined) await audit.recordSignIn(user, 'refused', request);
      throw new AppError('authentication-wrong-password');
    }
    try {
      const signedIn = await this.start(user, from, async (now, transaction) => {
        // The password may have changed during the check.
        if (now.passwordHash !== user.passwordHash) throw new AppError('authentication-wrong-password');
        await this.#useSecondFactor(user, code, transaction);
      });
      await attempt.succeed();
      return signedIn;
    } catch (error) {
      if (error instanceof AppError && error.code === 'authentication-wrong-code') {
        log.info('sign-in-code-refused', { address, userId: user.userId });
      } else {
        await attempt.cancel();
      }
      const isAsked = error instanceof AppError && error.code === 'authentication-second-factor-required';
      if (error instanceof AppError && !isAsked) await audit.recordSignIn(user, 'refused', request);
      throw error;
    }
  }

  /**
   * Starts a session of a user who has proved who they are.
   * @param check throws to refuse. It runs in the transaction of the session with the user as they are now
   * @throws AppError `authentication-wrong-password` for a user who was removed, `authorization-suspended-account`
   */
  async start(
    user: User,
    { request, before }: SignInOrigin,
    check: (user: User, transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<SignedIn> {
    const { accounts, audit, addressOf, log } = this.#options;
    const { userId, accountId, email } = user;
    const address = addressOf(request);
    const started = async (transaction: Transaction) => {
      await transaction.lock('user', userId);
      const now = await accounts.findUser(email, transaction);
      if (now === undefined) throw new AppError('authentication-wrong-password');
      if (now.isSuspended) throw new AppError('authorization-suspended-account');
      await check(now, transaction);
      if (before !== undefined) await this.#store.removeBySecret(before, transaction);
      const { sessionId, secret } = await this.add(now, request, transaction);
      await audit.recordSignIn(user, 'signed-in', request, transaction);
      return { session: await this.#requireSession(sessionId, transaction), secret };
    };
    // The session that ends may act for another account.
    const changed = before === undefined ? 'account' : 'user';
    const { session, secret } = await accounts.changeAccess(accountId, started, { changed });
    log.info('signed-in', { sessionId: session.sessionId, userId, address });
    return { view: await this.#viewOf(session), secret };
  }

  /** Adds a session that acts for the account. */
  async add(
    { userId, accountId }: { readonly userId: string; readonly accountId: string },
    request: PeerRequest,
    transaction: Transaction,
  ): Promise<{ sessionId: string; secret: string }> {
    const atMs = this.#options.clock.nowMs();
    const secret = randomBase62(sessionSecretLength);
    const address = this.#options.addressOf(request);
    const userAgent = request.headers['user-agent']?.slice(0, maxUserAgentLength).toWellFormed();
    const expiresAtMs = atMs + sessionLifetimeMs;
    const sessionId = await this.#store.add(
      { userId, accountId, secret, atMs, expiresAtMs, address, userAgent },
      transaction,
    );
    return { sessionId, secret };
  }

  /** @throws AppError `invalid-attribute` for an account of others, or `authorization-suspended-account` */
  async switchAccount(
    { sessionId, userId }: Pick<SessionCaller, 'sessionId' | 'userId'>,
    accountId: string,
  ): Promise<SessionView> {
    const { accounts } = this.#options;
    await accounts.changeAccess(
      accountId,
      async transaction => {
        const memberships = await accounts.members.listAccounts(userId, transaction);
        const next = memberships.find(membership => membership.accountId === accountId);
        if (next === undefined) throw attributeError('accountId', 'You are not a member of this account.');
        if (next.isSuspended) throw new AppError('authorization-suspended-account');
        await this.#store.setAccount(sessionId, accountId, transaction);
      },
      { changed: 'user' },
    );
    this.#options.log.info('account-switched', { sessionId, userId, accountId });
    return this.view({ sessionId });
  }

  async rename(
    { accountId, sessionId }: SessionCaller,
    name: string | null,
  ): Promise<SessionView['account']> {
    await this.#options.accounts.rename(accountId, name);
    return accountViewOf(await this.#requireSession(sessionId));
  }

  async view({ sessionId }: Pick<SessionCaller, 'sessionId'>): Promise<SessionView> {
    return this.#viewOf(await this.#requireSession(sessionId));
  }

  async signOut({ sessionId, userId, accountId }: SessionCaller): Promise<void> {
    await this.#remove(accountId, sessionId);
    this.#options.log.info('signed-out', { sessionId, userId });
  }

  async list(
    { userId, sessionId }: SessionCaller,
    { field, direction }: { field: 'createdAt' | 'lastUsedAt'; direction: 'asc' | 'desc' },
    page: { currentPage: number; pageSize: number },
  ): Promise<{ views: ListedSessionView[]; total: number }> {
    const sessions = await this.#store.listByUser(userId, this.#options.clock.nowMs());
    if (field === 'lastUsedAt') sessions.sort((a, b) => b.lastUsedAtMs - a.lastUsedAtMs);
    if (direction === 'asc') sessions.reverse();
    const first = (page.currentPage - 1) * page.pageSize;
    const views = sessions.slice(first, first + page.pageSize).map(one => listedViewOf(one, sessionId));
    return { views, total: sessions.length };
  }

  async find({ userId }: SessionCaller, sessionId: string): Promise<Session | undefined> {
    const session = await this.#store.find(sessionId);
    const isOwn = session?.userId === userId && this.#options.clock.nowMs() < session.expiresAtMs;
    return isOwn ? session : undefined;
  }

  async end({ userId, accountId }: SessionCaller, { sessionId }: Session): Promise<void> {
    await this.#remove(accountId, sessionId);
    this.#options.log.info('session-ended', { sessionId, userId });
  }

  async endOthers({ userId, sessionId, accountId }: SessionCaller): Promise<void> {
    await this.#options.accounts.changeAccess(
      accountId,
      transaction => this.#store.removeOfUser(userId, [sessionId], transaction),
      { changed: 'user' },
    );
    this.#options.log.info('other-sessions-ended', { sessionId, userId });
  }

  /** Ends all other sessions. Returns a new secret for the cookie, so that a stolen one ends too. */
  async changePassword(
    { sessionId, userId }: SessionCaller,
    { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
    request: PeerRequest,
  ): Promise<string> {
    const { email } = await this.#requireSession(sessionId);
    const user = await this.#options.accounts.findUser(email);
    const { passwords, addressOf } = this.#options;
    const isRight = await passwords.verify(email, addressOf(request), currentPassword, user?.passwordHash);
    if (!isRight || user === undefined) {
      throw attributeError('currentPassword', 'This password is wrong.');
    }
    if (newPassword.normalize('NFC') === currentPassword.normalize('NFC')) {
      throw attributeError('newPassword', 'This is your current password. Choose a new one.');
    }
    const passwordHash = await passwords.hash(newPassword, { email, attribute: 'newPassword' });
    const secret = randomBase62(sessionSecretLength);
    if (!(await this.#options.accounts.changePassword(user, passwordHash, { sessionId, secret }))) {
      throw attributeError('currentPassword', 'The password was changed a moment ago.');
    }
    this.#options.log.info('password-changed', { userId });
    return secret;
  }

  /** Upgrades the operator's own account. @throws AppError `authorization-operator-only` */
  async upgrade({ sessionId, accountId }: SessionCaller): Promise<SessionView['account']> {
    const { account, email } = await this.#requireSession(sessionId);
    if (!account.isOperator) {
      const detail = `Ask the operator to run this on the server: ${operatorCommand('account', `upgrade ${email}`)}`;
      throw new AppError('authorization-operator-only', undefined, { details: { detail } });
    }
    await this.#options.accounts.setStanding(accountId, { isUpgraded: true });
    this.#options.log.info('account-upgraded', { accountId });
    return accountViewOf(await this.#requireSession(sessionId));
  }

  async #viewOf(session: Session): Promise<SessionView> {
    return viewOf(session, await this.#options.accounts.members.listAccounts(session.userId));
  }

  #remove(accountId: string, sessionId: string): Promise<void> {
    return this.#options.accounts.changeAccess(
      accountId,
      transaction => this.#store.remove(sessionId, transaction),
      { changed: 'user' },
    );
  }

  async #useSecondFactor(
    { userId }: User,
    code: string | undefined,
    transaction: Transaction,
  ): Promise<void> {
    const result = await this.#options.secondFactor.use(userId, code, transaction);
    if (result === 'missing') throw new AppError('authentication-second-factor-required');
    if (result === 'wrong') throw new AppError('authentication-wrong-code');
  }

  async #requireSession(sessionId: string, connection?: Connection): Promise<Session> {
    const session = await this.#store.find(sessionId, connection);
    if (session === undefined) throw new AppError('authentication-invalid-session');
    return session;
  }
}

function viewOf(session: Session, memberships: readonly Membership[]): SessionView {
  const { isUpgraded } = session.account;
  const projects = session.projects.map(pair => projectViewOf(pair, isUpgraded));
  return {
    sessionId: session.sessionId,
    email: session.email,
    emailVerified: session.isVerified,
    createdAt: formatAtom(session.createdAtMs),
    expiresAt: formatAtom(session.expiresAtMs),
    account: accountViewOf(session),
    role: session.role,
    scopes: listScopes(session.scopes),
    accounts: memberships.map(({ accountId, name, ownerEmail, role }) => ({
      accountId,
      name,
      ownerEmail,
      role,
    })),
    environments: isUpgraded ? ['sandbox', 'production'] : ['sandbox'],
    projects: projects[0]!.environmentIds,
    allProjects: projects,
  };
}

function accountViewOf({ accountId, account }: Session): SessionView['account'] {
  return {
    accountId,
    name: account.name,
    createdAt: formatAtom(account.createdAtMs),
    upgraded: account.isUpgraded,
    isOperator: account.isOperator,
  };
}

function listedViewOf(session: ListedSession, currentId: string): ListedSessionView {
  const { sessionId, createdAtMs, lastUsedAtMs, address, userAgent } = session;
  return {
    sessionId,
    createdAt: formatAtom(createdAtMs),
    lastUsedAt: formatAtom(lastUsedAtMs),
    address,
    userAgent,
    isCurrent: sessionId === currentId,
  };
}
