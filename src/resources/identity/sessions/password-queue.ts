import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import { ConcurrencyLimit } from '../../../shared/scheduling/concurrency-limit.ts';
import { dummyPasswordHash, hashPassword, verifyPassword } from '../accounts/password.ts';

/** Passwords hashed at once. Each needs 32 MiB and one of the four threads that also read files. */
const concurrency = 2;
const maxWaiting = 20;

/** Hashes a few passwords at a time, because it is slow. @throws RateExceeded when too many wait */
export class PasswordQueue {
  readonly #turns = new ConcurrencyLimit(concurrency);

  /** Takes as long when no password is stored. */
  verify(password: string, stored: string | undefined): Promise<boolean> {
    return this.#enqueue(() => verifyPassword(password, stored ?? dummyPasswordHash));
  }

  hash(password: string): Promise<string> {
    return this.#enqueue(() => hashPassword(password));
  }

  async #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waitingCount >= maxWaiting) {
      const state = { isAllowed: false, limit: maxWaiting, remaining: 0, retryAfterSeconds: 1 };
      throw new RateExceeded(state, 'Too many people are signing in right now. Try again in a second.');
    }
    return await this.#turns.run(work);
  }
}
