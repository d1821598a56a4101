import { RateExceeded } from '../../http/rate-limiter.ts';
import { Turns } from '../../shared/turns.ts';
import { hashPassword, isPassword, passwordOfNobody } from '../accounts/password.ts';

/** Each takes 32 MiB and one of the four threads that also read files. */
const atOnce = 2;
const waitingAtMost = 20;

/** Works on passwords, which is slow on purpose, for a few at a time. */
export class PasswordTurns {
  readonly #turns = new Turns(atOnce);

  /**
   * Whether a password is the one that was stored. Takes as long where none was.
   *
   * @throws RateExceeded when too many wait already
   */
  isRight(password: string, stored: string | undefined): Promise<boolean> {
    return this.#take(() => isPassword(password, stored ?? passwordOfNobody));
  }

  /** A password as it is stored. @throws RateExceeded when too many wait already */
  hash(password: string): Promise<string> {
    return this.#take(() => hashPassword(password));
  }

  async #take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waiting >= waitingAtMost) {
      const state = { isAllowed: false, limit: waitingAtMost, remaining: 0, retryAfterSeconds: 1 };
      throw new RateExceeded(state, 'Too many people sign in at this moment.');
    }
    return await this.#turns.take(work);
  }
}
