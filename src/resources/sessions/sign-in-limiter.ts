import { RateExceeded } from '../../http/routing/rate-limiter.ts';
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';
import type { AttemptWindow, SignInAttemptsStore } from './sign-in-attempts.store.ts';

const windowMs = 15 * 60_000;
const maxAttemptsPerEmail = 10;
const maxAttemptsPerAddress = 30;
const knownForMs = 30 * 24 * 3_600_000;

export interface SignInAttempt {
  /** The password was right: neither this attempt nor earlier ones with the email address count. */
  succeed(): Promise<void>;
  /** The password was not checked: the attempt does not count. */
  cancel(): Promise<void>;
}

/**
 * Limits attempts per email address and per client network, on all servers together. Counts an attempt before its password
 * is checked, against concurrent ones. Counts networks where the password was right before separately, so that strangers
 * who guess do not lock the owner out.
 */
export class SignInLimiter {
  readonly #store: SignInAttemptsStore;
  readonly #clock: Clock;

  constructor(store: SignInAttemptsStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** @throws RateExceeded */
  async begin(email: string, address: string): Promise<SignInAttempt> {
    const nowMs = this.#clock.nowMs();
    const network = clientNetwork(address);
    const emailAtNetwork = `${email.toLowerCase()} ${network}`;
    const networkKey = `network ${network}`;
    const emailKey = await this.#store.transaction(async transaction => {
      const isKnown = await this.#store.isKnown(emailAtNetwork, nowMs, transaction);
      const key = `email ${isKnown ? emailAtNetwork : email.toLowerCase()}`;
      // In this order, so that no two attempts wait for each other. A refusal rolls both back.
      const ofEmail = await this.#store.count(key, { nowMs, windowMs }, transaction);
      const ofNetwork = await this.#store.count(networkKey, { nowMs, windowMs }, transaction);
      assertWithin(
        [
          { window: ofEmail, limit: maxAttemptsPerEmail },
          ...(isKnown ? [] : [{ window: ofNetwork, limit: maxAttemptsPerAddress }]),
        ],
        nowMs,
      );
      return key;
    });
    return {
      succeed: () =>
        this.#store.transaction(async transaction => {
          await this.#store.forget(emailKey, transaction);
          await this.#store.uncount(networkKey, transaction);
          await this.#store.setKnown(emailAtNetwork, nowMs + knownForMs, transaction);
        }),
      cancel: () =>
        this.#store.transaction(async transaction => {
          await this.#store.uncount(emailKey, transaction);
          await this.#store.uncount(networkKey, transaction);
        }),
    };
  }
}

/** @throws RateExceeded */
function assertWithin(
  counted: readonly { readonly window: AttemptWindow; readonly limit: number }[],
  nowMs: number,
): void {
  const exceeded = counted.filter(({ window, limit }) => window.attempts > limit);
  const [first] = exceeded;
  if (first === undefined) return;
  const endsAtMs = Math.max(...exceeded.map(({ window }) => window.endsAtMs));
  const retryAfterSeconds = Math.ceil((endsAtMs - nowMs) / 1_000);
  const state = { isAllowed: false, limit: first.limit, remaining: 0, retryAfterSeconds };
  throw new RateExceeded(state, 'Too many passwords or codes were wrong. Try again later.');
}
