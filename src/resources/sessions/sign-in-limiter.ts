import { LRUCache } from 'lru-cache';
import { RateExceeded } from '../../http/routing/rate-limiter.ts';
import type { Clock } from '../../shared/clock.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import { maxEntries } from '../../shared/lru-limit.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';

const windowMs = 15 * 60_000;
const maxAttemptsPerEmail = 10;
const maxAttemptsPerAddress = 30;
const maxKeys = 10_000;

interface SignInAttempt {
  /** The password was right: neither this attempt nor earlier ones with the email address count. */
  succeed(): void;
  /** The password was not checked: the attempt does not count. */
  cancel(): void;
}

/**
 * Limits attempts per email address and per client network. Counts an attempt before its password is checked,
 * against concurrent ones. Counts networks where the password was right before separately, so that strangers
 * who guess do not lock the owner out.
 */
export class SignInLimiter {
  readonly #byEmail: FixedWindows;
  readonly #byNetwork: FixedWindows;
  /** Email addresses with the networks where their passwords were right, latest last. */
  readonly #known = new LRUCache<string, true>(maxEntries(maxKeys));

  constructor(clock: Clock) {
    this.#byEmail = new FixedWindows({ windowMs, maxKeys, clock });
    this.#byNetwork = new FixedWindows({ windowMs, maxKeys, clock });
  }

  /** @throws RateExceeded */
  begin(email: string, address: string): SignInAttempt {
    const network = clientNetwork(address);
    const emailAtNetwork = `${email.toLowerCase()} ${network}`;
    const isKnown = this.#known.has(emailAtNetwork);
    const emailKey = isKnown ? emailAtNetwork : email.toLowerCase();
    const ofEmail = this.#byEmail.get(emailKey);
    const ofNetwork = this.#byNetwork.get(network);
    const waits = [
      ...(ofEmail.count >= maxAttemptsPerEmail
        ? [{ limit: maxAttemptsPerEmail, seconds: this.#byEmail.secondsUntilEnd(ofEmail) }]
        : []),
      ...(!isKnown && ofNetwork.count >= maxAttemptsPerAddress
        ? [{ limit: maxAttemptsPerAddress, seconds: this.#byNetwork.secondsUntilEnd(ofNetwork) }]
        : []),
    ];
    const [first] = waits;
    if (first !== undefined) {
      const retryAfterSeconds = Math.max(...waits.map(({ seconds }) => seconds));
      const state = { isAllowed: false, limit: first.limit, remaining: 0, retryAfterSeconds };
      throw new RateExceeded(state, 'Too many passwords were wrong. Try again later.');
    }
    this.#byEmail.add(emailKey, ofEmail);
    this.#byNetwork.add(network, ofNetwork);
    return {
      succeed: () => {
        this.#byEmail.delete(emailKey);
        ofNetwork.count -= 1;
        this.#known.set(emailAtNetwork, true);
      },
      cancel: () => {
        ofEmail.count -= 1;
        ofNetwork.count -= 1;
      },
    };
  }
}
