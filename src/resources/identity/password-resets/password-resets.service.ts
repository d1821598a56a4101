import type { AddressOf, PeerRequest } from '../../../http/listener/client-address.ts';
import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import type { MailQueue, SendMail } from '../../../mail/mail-queue.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Logger } from '../../../shared/logger.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { KeptCredentials, RemovedCredentials } from '../accounts/removed-credentials.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { viewOf as passkeyViewOf } from '../passkeys/passkeys.service.ts';
import type { PasskeysStore } from '../passkeys/passkeys.store.ts';
import type { PasswordCheck } from '../sessions/password-check.ts';
import type { SecondFactor } from '../sessions/second-factor.ts';
import type { User } from '../sessions/session.ts';
import type { SignInAttemptsStore } from '../sessions/sign-in-attempts.store.ts';
import { countWithin } from '../sessions/sign-in-limiter.ts';
import { confirmationMail, linkMail } from './password-reset-mails.ts';
import type { PasswordResetView } from './password-resets.schema.ts';
import type { PasswordReset } from './password-resets.store.ts';

interface PasswordResetsServiceOptions {
  readonly accounts: AccountsStore;
  readonly passkeys: PasskeysStore;
  readonly audit: AuditLog;
  readonly passwords: PasswordCheck;
  readonly secondFactor: SecondFactor;
  readonly attempts: SignInAttemptsStore;
  /** Undefined if the server sends no mails. */
  readonly mails: MailQueue | undefined;
  readonly publicUrl: () => string;
  readonly addressOf: AddressOf;
  readonly clock: Clock;
  readonly log: Logger;
}

const lifetimeMs = 3_600_000;
/** 256 bits in base62. */
const tokenLength = 43;
const windowMs = 3_600_000;
const maxRequestsPerEmail = 5;
const maxRequestsPerNetwork = 30;

/** New passwords for users who forgot theirs, with a link that is sent by mail. */
export class PasswordResetsService {
  readonly #options: PasswordResetsServiceOptions;

  constructor(options: PasswordResetsServiceOptions) {
    this.#options = options;
  }

  get isAvailable(): boolean {
    return this.#options.mails !== undefined;
  }

  /**
   * Finds the user and sends the link in the background, so that neither the answer nor its time tells which users exist.
   * @throws AppError `mail-not-configured`, `too-many-requests`
   */
  async request(email: EmailAddress, request: PeerRequest): Promise<void> {
    const { mails, attempts, addressOf, clock } = this.#options;
    if (mails === undefined) throw new AppError('mail-not-configured');
    const limits = [
      { key: `reset email ${email}`, limit: maxRequestsPerEmail },
      { key: `reset network ${clientNetwork(addressOf(request))}`, limit: maxRequestsPerNetwork },
    ];
    await attempts.transaction(transaction =>
      countWithin(
        limits,
        {
          attempts,
          nowMs: clock.nowMs(),
          windowMs,
          refusal:
            'Too many links were requested. Look for one in your inbox and spam folder, or try again later.',
        },
        transaction,
      ),
    );
    if (!mails.enqueue(send => this.#sendLink(email, send))) {
      const state = { isAllowed: false, limit: 0, remaining: 0, retryAfterSeconds: 60 };
      throw new RateExceeded(state, 'Too many emails are waiting to be sent. Try again in a minute.');
    }
  }

  find(token: string): Promise<PasswordReset | undefined> {
    return this.#options.accounts.passwordResets.findByToken(token, this.#options.clock.nowMs());
  }

  /** Returns what the new password ends: what an unverified user has cannot be kept. */
  async view({ userId, email, expiresAtMs, isVerified }: PasswordReset): Promise<PasswordResetView> {
    const { accounts, passkeys, clock } = this.#options;
    const sessions = await accounts.sessions.listByUser(userId, clock.nowMs());
    return {
      email,
      emailVerified: isVerified,
      expiresAt: formatAtom(expiresAtMs),
      passkeys: (await passkeys.all(userId)).map(passkeyViewOf),
      sessions: sessions.map(({ sessionId, createdAtMs, lastUsedAtMs, address, userAgent }) => ({
        sessionId,
        createdAt: formatAtom(createdAtMs),
        lastUsedAt: formatAtom(lastUsedAtMs),
        address,
        userAgent,
      })),
    };
  }

  /**
   * Sets the password, and ends the passkeys and sessions that are not kept. Codes stay. The link was mailed, so it proves the
   * address: of an unverified user, nothing stays.
   * @throws AppError `invalid-attribute`, `resource-not-found` when the link was used meanwhile, `too-many-requests`
   */
  async complete(
    { userId, email }: PasswordReset,
    { token, password, keep }: { token: string; password: string; keep: KeptCredentials },
    request: PeerRequest,
  ): Promise<void> {
    const { accounts, passwords, secondFactor, addressOf, clock, log } = this.#options;
    const passwordHash = await passwords.hash(password, { email, attribute: 'password' });
    const user = await accounts.findUser(email);
    if (user?.userId !== userId) throw unknownToken();
    const atMs = clock.nowMs();
    const removed = await accounts.resetPassword(user, { passwordHash, keep, atMs }, async transaction => {
      const isOpen = await accounts.passwordResets.use({ userId, token, nowMs: atMs }, transaction);
      if (!isOpen) throw unknownToken();
      await this.#record(user, request, transaction);
    });
    const address = addressOf(request);
    log.info('password-reset', { userId, address });
    // Codes stay as hard to guess as they were.
    if (!(await secondFactor.isSet(userId))) await passwords.forgetWrong(email, address);
    this.#confirm(user, removed);
  }

  /** Records the reset in all accounts of the user, in an order that prevents deadlocks. */
  async #record({ userId, email }: User, request: PeerRequest, transaction: Transaction): Promise<void> {
    const { accounts, audit } = this.#options;
    const memberships = await accounts.members.listAccounts(userId, transaction);
    for (const accountId of memberships.map(one => one.accountId).sort()) {
      await audit.recordSignIn({ accountId, userId, email }, 'password-reset', request, transaction);
    }
  }

  async #sendLink(email: EmailAddress, send: SendMail): Promise<void> {
    const { accounts, publicUrl, clock, log } = this.#options;
    const user = await accounts.findUser(email);
    if (user === undefined) return;
    const { userId } = user;
    const token = randomBase62(tokenLength);
    await accounts.passwordResets.add({ userId, token, expiresAtMs: clock.nowMs() + lifetimeMs });
    const url = `${publicUrl()}/dashboard/password-reset/${token}`;
    const { status, failure } = await send(linkMail({ email: user.email, url, publicUrl: publicUrl() }));
    if (status === 'sent') log.info('password-reset-mailed', { userId });
    else log.warn('password-reset-not-mailed', { userId, reason: failure });
  }

  #confirm({ userId, email }: User, removed: RemovedCredentials): void {
    const { mails, publicUrl, log } = this.#options;
    mails?.enqueue(async send => {
      const { status, failure } = await send(confirmationMail({ email, removed, publicUrl: publicUrl() }));
      if (status === 'failed') log.warn('password-reset-not-confirmed', { userId, reason: failure });
    });
  }
}

function unknownToken(): AppError {
  return new AppError('resource-not-found', undefined, { details: { name: 'resetToken' } });
}
