import { randomBytes } from 'node:crypto';
import type { AddressOf, PeerRequest } from '../../../http/listener/client-address.ts';
import type { SessionCaller } from '../../../http/routing/caller.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { PasswordCheck } from '../sessions/password-check.ts';
import type { SecondFactor, SecondFactorResult } from '../sessions/second-factor.ts';
import { sessionSecretLength, type User } from '../sessions/session.ts';
import {
  type Enrollment,
  enrollmentOf,
  newRecoveryCode,
  recoveryCodeCount,
  secretBytes,
  stepOfCode,
} from './codes.ts';
import type { TwoFactorView } from './two-factor.schema.ts';
import type { TwoFactorStore } from './two-factor.store.ts';

interface TwoFactorServiceOptions {
  readonly accounts: AccountsStore;
  readonly store: TwoFactorStore;
  readonly passwords: PasswordCheck;
  readonly addressOf: AddressOf;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Proof {
  readonly password: string;
  readonly code?: string | undefined;
}

const wrongCodeDetail = 'The code is wrong or was already used. Wait for the next one.';

/** Codes of an authenticator app (RFC 6238) beside the password, and recovery codes in their place. */
export class TwoFactorService implements SecondFactor {
  readonly #options: TwoFactorServiceOptions;

  constructor(options: TwoFactorServiceOptions) {
    this.#options = options;
  }

  async view({ userId }: SessionCaller): Promise<TwoFactorView> {
    const { store } = this.#options;
    const found = await store.find(userId);
    if (found?.enabledAtMs === undefined) return { enabled: false };
    return {
      enabled: true,
      enabledAt: formatAtom(found.enabledAtMs),
      recoveryCodesLeft: await store.countRecoveryCodes(userId),
    };
  }

  /** Creates a secret, which counts once {@link confirm} got a code of it. */
  async begin(caller: SessionCaller, password: string, request: PeerRequest): Promise<Enrollment> {
    const { accounts, store, passwords, addressOf, clock } = this.#options;
    const { email, passwordHash } = await this.#userOf(caller);
    if (!(await passwords.verify(email, addressOf(request), password, passwordHash))) throw wrongPassword();
    const secret = randomBytes(secretBytes);
    const isBegun = await accounts.changeAccess(caller.accountId, async transaction => {
      await accounts.requireSession(caller, transaction);
      return store.begin({ userId: caller.userId, secret, atMs: clock.nowMs() }, transaction);
    });
    if (!isBegun) throw new AppError('two-factor-enabled');
    return enrollmentOf(secret, email);
  }

  /** Ends all other sessions. `secret` is the new one of the caller's. */
  async confirm(
    { userId, accountId, sessionId }: SessionCaller,
    code: string,
  ): Promise<{ recoveryCodes: string[]; secret: string }> {
    const { accounts, store, clock, log } = this.#options;
    const recoveryCodes = newRecoveryCodes();
    const confirmed = async (transaction: Transaction) => {
      await accounts.requireSession({ userId, sessionId }, transaction);
      const found = await store.find(userId, transaction);
      if (found === undefined) throw new AppError('two-factor-not-enabled');
      if (found.enabledAtMs !== undefined) throw new AppError('two-factor-enabled');
      const nowMs = clock.nowMs();
      const step = stepOfCode(found.secret, code, nowMs);
      if (step === undefined) {
        const advice = 'Enter the current code, and check the time of your device.';
        throw attributeError('code', `The code is wrong. ${advice}`);
      }
      await store.useStep(userId, step, transaction);
      await store.enable(userId, nowMs, transaction);
      await store.setRecoveryCodes(userId, recoveryCodes, transaction);
      return this.#renewSession(userId, sessionId, transaction);
    };
    const secret = await accounts.changeAccess(accountId, confirmed, { changed: 'user' });
    log.info('two-factor-enabled', { userId });
    return { recoveryCodes, secret };
  }

  /** Existing recovery codes stop working. */
  async renewRecoveryCodes(caller: SessionCaller, proof: Proof, request: PeerRequest): Promise<string[]> {
    const recoveryCodes = newRecoveryCodes();
    const { isEnabled } = await this.#prove(caller, proof, request, transaction =>
      this.#options.store.setRecoveryCodes(caller.userId, recoveryCodes, transaction),
    );
    if (!isEnabled) throw new AppError('two-factor-not-enabled');
    this.#options.log.info('recovery-codes-renewed', { userId: caller.userId });
    return recoveryCodes;
  }

  /** Ends all other sessions. Returns a new secret of the caller's. */
  async disable(caller: SessionCaller, proof: Proof, request: PeerRequest): Promise<string> {
    const { userId, sessionId } = caller;
    const { value: secret } = await this.#prove(caller, proof, request, async transaction => {
      await this.#options.store.remove(userId, transaction);
      return this.#renewSession(userId, sessionId, transaction);
    });
    if (secret === undefined) throw new AppError('two-factor-not-enabled');
    this.#options.log.info('two-factor-disabled', { userId });
    return secret;
  }

  async isSet(userId: string): Promise<boolean> {
    return (await this.#options.store.find(userId))?.enabledAtMs !== undefined;
  }

  async use(userId: string, code: string | undefined, transaction: Transaction): Promise<SecondFactorResult> {
    const { store, clock } = this.#options;
    const found = await store.find(userId, transaction);
    if (found?.enabledAtMs === undefined) return 'not-set';
    if (code === undefined) return 'missing';
    const step = stepOfCode(found.secret, code, clock.nowMs());
    const isUsed =
      step === undefined
        ? await store.useRecoveryCode(userId, code, transaction)
        : await store.useStep(userId, step, transaction);
    return isUsed ? 'used' : 'wrong';
  }

  /** Checks the password, and a code if two-factor sign-in is on. Wrong ones count as attempts to sign in. */
  async confirmIdentity(caller: SessionCaller, proof: Proof, request: PeerRequest): Promise<User> {
    const { user } = await this.#prove(caller, proof, request, async () => {});
    return user;
  }

  /** Runs `work` in the transaction that uses the code, unless two-factor sign-in is off. */
  async #prove<Result>(
    caller: SessionCaller,
    { password, code }: Proof,
    request: PeerRequest,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<{ user: User; isEnabled: boolean; value?: Result }> {
    const { accounts, passwords, addressOf } = this.#options;
    const user = await this.#userOf(caller);
    const { email, passwordHash } = user;
    const { isRight, attempt } = await passwords.begin(email, addressOf(request), password, passwordHash);
    if (!isRight) throw wrongPassword();
    const proved = async (transaction: Transaction) => {
      const result = await this.use(caller.userId, code, transaction);
      return result === 'used' ? { value: await work(transaction) } : result;
    };
    const outcome = await accounts.changeAccess(caller.accountId, proved, { changed: 'user' });
    if (outcome === 'wrong') throw attributeError('code', wrongCodeDetail);
    if (outcome === 'missing') {
      await attempt.cancel();
      throw attributeError('code', 'Enter a code from your authenticator app, or a recovery code.');
    }
    await attempt.succeed();
    return outcome === 'not-set' ? { user, isEnabled: false } : { user, isEnabled: true, ...outcome };
  }

  async #userOf({ sessionId }: SessionCaller): Promise<User> {
    const { accounts } = this.#options;
    const session = await accounts.sessions.find(sessionId);
    const user = session && (await accounts.findUser(session.email));
    if (user === undefined) throw new AppError('authentication-invalid-session');
    return user;
  }

  async #renewSession(userId: string, sessionId: string, transaction: Transaction): Promise<string> {
    const { sessions } = this.#options.accounts;
    const secret = randomBase62(sessionSecretLength);
    await sessions.removeOfUser(userId, [sessionId], transaction);
    await sessions.setSecret(sessionId, secret, transaction);
    return secret;
  }
}

function newRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, newRecoveryCode);
}

function wrongPassword(): AppError {
  return attributeError('password', 'This password is wrong.');
}
