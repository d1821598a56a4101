import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';
import type { Transaction } from '../../../store/connection.ts';
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
  async begin(email: EmailAddress, address: string): Promise<SignInAttempt> {
    const nowMs = this.#clock.nowMs();
    const network = clientNetwork(address);
    const emailAtNetwork = `${email} ${network}`;
    const networkKey = `network ${network}`;
    const emailKey = await this.#store.transaction(async transaction => {
      const isKnown = await this.#store.isKnown(emailAtNetwork, nowMs, transaction);
      const key = emailKeyOf(isKnown ? emailAtNetwork : email);
      const limits = [
        { key, limit: maxAttemptsPerEmail },
        { key: networkKey, limit: isKnown ? Number.POSITIVE_INFINITY : maxAttemptsPerAddress },
      ];
      const refusal = 'Too many passwords or codes were wrong. Try again later.';
      await countWithin(limits, { attempts: this.#store, nowMs, windowMs, refusal }, transaction);
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

  /** Forgets attempts with the email address, from everywhere and from this client. */
  async forget(email: EmailAddress, address: string): Promise<void> {
    await this.#store.transaction(async transaction => {
      await this.#store.forget(emailKeyOf(email), transaction);
      await this.#store.forget(emailKeyOf(`${email} ${clientNetwork(address)}`), transaction);
    });
  }
}

function emailKeyOf(text: string): string {
  return `email ${text}`;
}

interface LimitedCount {
  readonly attempts: SignInAttemptsStore;
  readonly nowMs: number;
  readonly windowMs: number;
  /** Text for clients that have to wait. */
  readonly refusal: string;
}

/**
 * Counts an attempt for all keys, or for none when a limit is exceeded.
 * @param limits in the same order for all attempts, so that no two wait for each other
 * @throws RateExceeded which rolls the transaction back
 */
export async function countWithin(
  limits: readonly { readonly key: string; readonly limit: number }[],
  { attempts, nowMs, windowMs, refusal }: LimitedCount,
  transaction: Transaction,
): Promise<void> {
  const counted: { window: AttemptWindow; limit: number }[] = [];
  for (const { key, limit } of limits) {
    counted.push({ window: await attempts.count(key, { nowMs, windowMs }, transaction), limit });
  }
  const exceeded = counted.filter(({ window, limit }) => window.attempts > limit);
  const [first] = exceeded;
  if (first === undefined) return;
  const endsAtMs = Math.max(...exceeded.map(({ window }) => window.endsAtMs));
  const retryAfterSeconds = Math.ceil((endsAtMs - nowMs) / 1_000);
  const state = { isAllowed: false, limit: first.limit, remaining: 0, retryAfterSeconds };
  throw new RateExceeded(state, refusal);
}
