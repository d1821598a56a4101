import { RateExceeded } from '../../http/routing/rate-limiter.ts';
import { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import { dummyPasswordHash, hashPassword, verifyPassword } from '../accounts/password.ts';

/** Each takes 32 MiB and one of the four threads that also read files. */
const atOnce = 2;
const maxWaiting = 20;

/** Works on passwords, which is slow on purpose, for a few at a time. */
export class PasswordQueue {
  readonly #turns = new ConcurrencyLimit(atOnce);

  /**
   * Whether a password is the one that was stored. Takes as long where none was.
   *
   * @throws RateExceeded when too many wait already
   */
  verify(password: string, stored: string | undefined): Promise<boolean> {
    return this.#enqueue(() => verifyPassword(password, stored ?? dummyPasswordHash));
  }

  /** A password as it is stored. @throws RateExceeded when too many wait already */
  hash(password: string): Promise<string> {
    return this.#enqueue(() => hashPassword(password));
  }

  async #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waitingCount >= maxWaiting) {
      const state = { isAllowed: false, limit: maxWaiting, remaining: 0, retryAfterSeconds: 1 };
      throw new RateExceeded(state, 'Too many people sign in at this moment.');
    }
    return await this.#turns.run(work);
  }
}
