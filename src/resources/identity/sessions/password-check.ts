import { attributeError } from '../../../http/routing/validation.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { PasswordQueue } from './password-queue.ts';
import type { SignInAttemptsStore } from './sign-in-attempts.store.ts';
import { type SignInAttempt, SignInLimiter } from './sign-in-limiter.ts';

interface CheckedPassword {
  readonly isRight: boolean;
  /** Counts as a wrong one until it succeeds or is cancelled. */
  readonly attempt: SignInAttempt;
}

/** One instance per server: it limits attempts, and the number of passwords that are hashed at once. */
export class PasswordCheck {
  readonly #limits: SignInLimiter;
  readonly #passwords = new PasswordQueue();

  constructor(attempts: SignInAttemptsStore, clock: Clock) {
    this.#limits = new SignInLimiter(attempts, clock);
  }

  /**
   * Hashes a new password.
   * @param attribute of the request
   * @throws AppError `invalid-attribute` for the email address of the user
   */
  async hash(
    password: string,
    { email, attribute }: { email: EmailAddress; attribute: string },
  ): Promise<string> {
    if (password.toLowerCase() === email) {
      throw attributeError(attribute, 'The password must differ from the email address.');
    }
    return this.#passwords.hash(password);
  }

  /** Forgets wrong passwords for the email address, from everywhere and from this client. */
  forgetWrong(email: EmailAddress, address: string): Promise<void> {
    return this.#limits.forget(email, address);
  }

  /** Leaves the attempt open, for what is checked beside the password. @param stored undefined for an unknown user */
  async begin(
    email: EmailAddress,
    address: string,
    password: string,
    stored: string | undefined,
  ): Promise<CheckedPassword> {
    const attempt = await this.#limits.begin(email, address);
    try {
      return { isRight: await this.#passwords.verify(password, stored), attempt };
    } catch (error) {
      await attempt.cancel();
      throw error;
    }
  }

  /** Right passwords leave the count of wrong ones, so that they do not allow more guesses of a code. */
  async verify(
    email: EmailAddress,
    address: string,
    password: string,
    stored: string | undefined,
  ): Promise<boolean> {
    const { isRight, attempt } = await this.begin(email, address, password, stored);
    if (isRight) await attempt.cancel();
    return isRight;
  }
}
