import { RateExceeded } from '../../http/routing/rate-limiter.ts';
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';

const windowMs = 15 * 60_000;
const maxAttemptsPerEmail = 10;
const maxAttemptsPerAddress = 30;
const maxWindows = 10_000;

interface Window {
  readonly endsAtMs: number;
  used: number;
}

/** A try that was let through. */
export interface SignInAttempt {
  /** The password was right: the try does not count, nor do earlier ones with this email address. */
  succeed(): void;
  /** Nobody looked at the password: the try does not count. */
  cancel(): void;
}

/**
 * Counts tries to sign in, by email address and by where they come from, in windows of 15 minutes that begin with the first. A try
 * counts before its password is looked at, so that many at once are no way around. For an email address, tries from a place where
 * its password was right before count apart from all others, of that place too: strangers who guess do not keep its owner out.
 */
export class SignInLimiter {
  readonly #clock: Clock;
  readonly #byEmail = new Map<string, Window>();
  readonly #byAddress = new Map<string, Window>();
  /** Email addresses and places where their passwords were right, the latest last. */
  readonly #known = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Counts a try.
   *
   * @throws RateExceeded when there were too many that failed
   */
  begin(email: string, address: string): SignInAttempt {
    const nowMs = this.#clock.monotonicMs();
    const place = clientNetwork(address);
    const atPlace = `${email.toLowerCase()} ${place}`;
    const isKnown = this.#known.has(atPlace);
    const person = isKnown ? atPlace : email.toLowerCase();
    const ofEmail = windowAt(this.#byEmail, person, nowMs);
    const ofAddress = windowAt(this.#byAddress, place, nowMs);
    const full = [
      ofEmail.used >= maxAttemptsPerEmail ? { ...ofEmail, limit: maxAttemptsPerEmail } : undefined,
      !isKnown && ofAddress.used >= maxAttemptsPerAddress
        ? { ...ofAddress, limit: maxAttemptsPerAddress }
        : undefined,
    ].filter(window => window !== undefined);
    if (full.length > 0) {
      const endsAtMs = Math.max(...full.map(window => window.endsAtMs));
      throw tooMany(full[0]!.limit, Math.ceil((endsAtMs - nowMs) / 1_000));
    }
    ofEmail.used += 1;
    ofAddress.used += 1;
    keep(this.#byEmail, person, ofEmail, nowMs);
    keep(this.#byAddress, place, ofAddress, nowMs);
    return {
      succeed: () => {
        this.#byEmail.delete(person);
        ofAddress.used -= 1;
        this.#known.delete(atPlace);
        const [oldest] = this.#known;
        if (this.#known.size >= maxWindows && oldest !== undefined) this.#known.delete(oldest);
        this.#known.add(atPlace);
      },
      cancel: () => {
        ofEmail.used -= 1;
        ofAddress.used -= 1;
      },
    };
  }
}

function tooMany(limit: number, retryAfterSeconds: number): RateExceeded {
  const state = { isAllowed: false, limit, remaining: 0, retryAfterSeconds };
  return new RateExceeded(state, 'Too many passwords were wrong. Try again later.');
}

function windowAt(windows: ReadonlyMap<string, Window>, name: string, nowMs: number): Window {
  const known = windows.get(name);
  return known !== undefined && nowMs < known.endsAtMs ? known : { endsAtMs: nowMs + windowMs, used: 0 };
}

function keep(windows: Map<string, Window>, name: string, window: Window, nowMs: number): void {
  if (windows.size >= maxWindows && !windows.has(name)) {
    for (const [other, { endsAtMs }] of windows) if (endsAtMs <= nowMs) windows.delete(other);
    const [oldest] = windows.keys();
    if (windows.size >= maxWindows && oldest !== undefined) windows.delete(oldest);
  }
  windows.set(name, window);
}
