import type { AddressOf, PeerRequest } from '../../../http/listener/client-address.ts';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import type { Clock } from '../../../shared/clock.ts';
import { type EmailAddress, readEmail } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { FixedWindows } from '../../../shared/fixed-windows.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Logger } from '../../../shared/logger.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import { createAccount } from '../accounts/create-account.ts';
import { hashPassword } from '../accounts/password.ts';
import type { RemovedCredentials } from '../accounts/removed-credentials.ts';
import type { VerificationMails } from '../accounts/verification-mails.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import type { InvitationsService } from '../members/invitations.service.ts';
import type { Challenges } from '../passkeys/challenges.ts';
import type { User } from '../sessions/session.ts';
import type { SessionsService, SignedIn, SignInOrigin } from '../sessions/sessions.service.ts';
import { IdentitiesStore } from './identities.store.ts';
import { OidcProvider, type OidcSettings, type ProvenPerson, refusedSignIn } from './oidc-provider.ts';
import { checksOf, oidcSignInMs } from './sign-in-cookie.ts';

interface OidcServiceOptions {
  readonly settings: OidcSettings | undefined;
  readonly database: Database;
  readonly accounts: AccountsStore;
  readonly audit: AuditLog;
  readonly sessions: SessionsService;
  readonly invitations: InvitationsService;
  readonly verificationMails: VerificationMails;
  readonly challenges: Challenges;
  readonly publicUrl: () => string;
  readonly addressOf: AddressOf;
  readonly clock: Clock;
  readonly log: Logger;
}

interface OidcProof {
  readonly query: string;
  readonly invitationToken?: string | undefined;
}

/** Throws to refuse the person. */
type Link = (userId: string, transaction: Transaction) => Promise<void>;

const purpose = 'oidc';
/** Limit of sign-ins: each sends a request to the provider. */
const maxSignInsPerMinute = 60;
/** Returns a password that nobody knows: the person signs in with the provider. */
const newPassword = () => randomBase62(40);

/** Sign-in with an OpenID Connect provider (authorization code with PKCE). */
export class OidcService {
  readonly #options: OidcServiceOptions;
  readonly #provider: OidcProvider | undefined;
  readonly #identities: IdentitiesStore;
  readonly #signIns: FixedWindows;

  constructor(options: OidcServiceOptions) {
    const { settings, database, clock } = options;
    this.#options = options;
    this.#provider = settings && new OidcProvider(settings, options);
    this.#identities = new IdentitiesStore(database);
    this.#signIns = new FixedWindows({ windowMs: 60_000, maxKeys: 10_000, clock });
  }

  get name(): string | undefined {
    return this.#options.settings?.name;
  }

  /**
   * Returns the page of the provider, and a challenge for the cookie.
   * @throws AppError `oidc-not-configured`, `oidc-provider-unavailable`
   */
  async begin(): Promise<{ url: string; challenge: string }> {
    const provider = this.#requireProvider();
    const bytes = await this.#options.challenges.create(purpose, oidcSignInMs);
    const challenge = Buffer.from(bytes).toString('base64url');
    return { url: await provider.authorizationUrl(checksOf(challenge), this.#redirectUri()), challenge };
  }

  /**
   * @param proof `query` of the redirect address, and the token of an invitation that is accepted
   * @throws AppError `authentication-oidc-refused`, `authorization-suspended-account`, `too-many-requests`,
   * `oidc-not-configured`, `oidc-provider-unavailable`, `invitation-of-other-user`, `member-limit-reached`
   */
  async signIn(
    { query, invitationToken }: OidcProof,
    challenge: string | undefined,
    from: SignInOrigin,
  ): Promise<SignedIn> {
    const { challenges } = this.#options;
    const provider = this.#requireProvider();
    const parameters = new URLSearchParams(query);
    if (
      challenge === undefined ||
      !(await challenges.isValid(challenge, purpose)) ||
      parameters.get('state') !== checksOf(challenge).state
    ) {
      throw refusedSignIn('It was started in another browser, or more than 10 minutes ago. Start again.');
    }
    this.#limit(from.request);
    const redirected = new URL(`${this.#redirectUri()}?${parameters}`);
    const person = await provider.identify(redirected, checksOf(challenge));
    const link: Link = (userId, transaction) => this.#link({ person, challenge, userId }, transaction);
    return invitationToken === undefined
      ? this.#start(person, from, link)
      : this.#accept(person, invitationToken, from, link);
  }

  /** Proves the address of the user if the provider has verified it. */
  async #start(person: ProvenPerson, from: SignInOrigin, link: Link): Promise<SignedIn> {
    const { sessions, accounts, audit, verificationMails, clock, log } = this.#options;
    const user = await this.#userOf(person, from.request);
    const { userId, email } = user;
    const isProved =
      person.isEmailVerified && person.email !== undefined && this.#emailOf(person.email) === email;
    const passwordHash = isProved && !user.isVerified ? await hashPassword(newPassword()) : undefined;
    let removed: RemovedCredentials | undefined;
    try {
      const { view, secret } = await sessions.start(user, from, async (_, transaction) => {
        removed =
          passwordHash === undefined
            ? undefined
            : await accounts.verify(user, { passwordHash, atMs: clock.nowMs() }, transaction);
        await link(userId, transaction);
      });
      if (removed === undefined) return { view, secret };
      verificationMails.send(user, removed);
      return { view: { ...view, removedCredentials: { ...removed } }, secret };
    } catch (error) {
      if (error instanceof AppError) await audit.recordSignIn(user, 'refused', from.request);
      log.info('oidc-sign-in-refused', { userId });
      throw error;
    }
  }

  /** Needs the address of the invitation, also of a person who has a user. */
  async #accept(person: ProvenPerson, token: string, from: SignInOrigin, link: Link): Promise<SignedIn> {
    const { sessions, invitations, accounts } = this.#options;
    const invitation = await invitations.open(token);
    if (invitation === undefined) {
      throw refusedSignIn('The invitation was accepted or revoked, or it has expired. Ask for a new one.');
    }
    const linked = await this.#identities.findUser(person);
    const email = linked?.email ?? (person.email === undefined ? undefined : this.#emailOf(person.email));
    if (email !== invitation.email) {
      const found = email === undefined ? 'without an address' : `as ${email}`;
      const detail = `It is for ${invitation.email}, and ${this.name} signed you in ${found}.`;
      throw new AppError('invitation-of-other-user', undefined, { details: { detail } });
    }
    if (!invitation.hasUser) {
      if (!person.isEmailVerified) throw this.#unverified(email);
      return invitations.acceptAsNew(invitation, { password: newPassword(), isVerified: true }, from, link);
    }
    let userId = '';
    const { view, secret } = await this.#start(person, from, async (id, transaction) => {
      userId = id;
      await link(id, transaction);
      await invitations.join(invitation, id, from.request, transaction);
    });
    const { removedCredentials } = view;
    const switched = await sessions.switchAccount(
      { sessionId: view.sessionId, userId },
      invitation.accountId,
    );
    if (removedCredentials === undefined) return { view: switched, secret };
    const { accountId } = invitation;
    const leave = (transaction: Transaction) => accounts.members.leaveOthers(userId, accountId, transaction);
    await accounts.changeAccess(accountId, leave, { changed: 'user' });
    const left = await sessions.view(switched);
    return { view: { ...left, removedCredentials: { ...removedCredentials, unknownApiKeys: 0 } }, secret };
  }

  /** Uses the challenge, and links the person with the user. */
  async #link(
    { person, challenge, userId }: { person: ProvenPerson; challenge: string; userId: string },
    transaction: Transaction,
  ): Promise<void> {
    const { challenges, clock } = this.#options;
    if (!(await challenges.use(challenge, transaction))) {
      throw refusedSignIn('It was used a moment ago. Start again.');
    }
    if (await this.#identities.link(person, { userId, createdAtMs: clock.nowMs() }, transaction)) return;
    throw refusedSignIn(
      `This user is linked to another person at ${this.name}. Sign in with your password, and unlink it under Account.`,
    );
  }

  #unverified(email: string): AppError {
    return refusedSignIn(
      `${this.name} does not confirm that ${email} is your address. Confirm the address there, and start again.`,
    );
  }

  linkedAtMs({ userId }: SessionCaller): Promise<number | undefined> {
    return this.#identities.linkedAtMs(userId);
  }

  async unlink({ userId }: SessionCaller): Promise<void> {
    await this.#identities.unlink(userId);
    this.#options.log.info('identity-unlinked', { userId });
  }

  /** Finds the user by the identity, or by a verified email address. */
  async #userOf(person: ProvenPerson, request: PeerRequest): Promise<User> {
    const { accounts, audit, settings } = this.#options;
    const linked = await this.#identities.findUser(person);
    // Reads the claimed address of a linked person, too: they may have been linked by an address that only looks
    // like the user's.
    const claimed = person.email === undefined ? undefined : this.#emailOf(person.email);
    const email = linked?.email ?? claimed;
    if (email === undefined) {
      throw refusedSignIn(
        `${this.name} sent no email address. Allow this server to read yours, and start again.`,
      );
    }
    const user = await accounts.findUser(email);
    if (linked !== undefined && user !== undefined) return user;
    if (!person.isEmailVerified) {
      if (user !== undefined) await audit.recordSignIn(user, 'refused', request);
      throw this.#unverified(email);
    }
    if (user !== undefined) return user;
    if (settings?.createAccounts === true) {
      return this.#createUser(email, request);
    }
    throw refusedSignIn(
      `No user has the email address ${email}. Open the link in your invitation, or ask an owner of the account for one.`,
    );
  }

  /** @throws AppError `authentication-oidc-refused` for an address that could be taken for that of another person */
  #emailOf(text: string): EmailAddress {
    const { email, problem } = readEmail(text);
    if (email !== undefined) return email;
    throw refusedSignIn(`${this.name} sent an email address that cannot be used here. ${problem}`);
  }

  async #createUser(email: EmailAddress, request: PeerRequest): Promise<User> {
    const { database, accounts, audit, clock, log } = this.#options;
    const accountId = await createAccount(database, {
      email,
      isUpgraded: false,
      password: newPassword(),
      atMs: clock.nowMs(),
      isFirst: false,
    });
    const user = (await accounts.findUser(email))!;
    if (accountId !== undefined) {
      log.info('account-created', { accountId });
      await audit.recordSignIn(user, 'account-created', request);
    }
    return user;
  }

  #limit(request: PeerRequest): void {
    const network = clientNetwork(this.#options.addressOf(request));
    const window = this.#signIns.get(network);
    if (window.count >= maxSignInsPerMinute) {
      const retryAfterSeconds = this.#signIns.secondsUntilEnd(window);
      throw new RateExceeded(
        { isAllowed: false, limit: maxSignInsPerMinute, remaining: 0, retryAfterSeconds },
        'Too many sign-ins came from your network. Try again in a minute.',
      );
    }
    this.#signIns.add(network, window);
  }

  #requireProvider(): OidcProvider {
    if (this.#provider === undefined) throw new AppError('oidc-not-configured');
    return this.#provider;
  }

  #redirectUri(): string {
    return `${this.#options.publicUrl()}/dashboard/sign-in/oidc`;
  }
}
