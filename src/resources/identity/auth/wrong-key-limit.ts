import { LRUCache } from 'lru-cache';
import { RateExceeded } from '../../../http/routing/rate-limiter.ts';
import type { Clock } from '../../../shared/clock.ts';
import { FixedWindows } from '../../../shared/fixed-windows.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';
import { clientNetwork } from '../../../shared/network/client-network.ts';

const windowMs = 60_000;
const maxNetworks = 10_000;

/** Exempts keys that were right from a network before: strangers behind it lock nobody out. */
export class WrongKeyLimit {
  readonly #options: { readonly maxPerMinute: number };
  readonly #failures: FixedWindows;
  /** Networks with the keys that were right from there, latest last. */
  readonly #knownKeys = new LRUCache<string, true>(maxEntries(10_000));

  constructor(options: { readonly maxPerMinute: number }, clock: Clock) {
    this.#options = options;
    this.#failures = new FixedWindows({ windowMs, maxKeys: maxNetworks, clock });
  }

  check(address: string, apiKeyId: string | undefined): void {
    const { maxPerMinute } = this.#options;
    if (maxPerMinute === 0) return;
    const network = clientNetwork(address);
    const knownKey = `${network} ${apiKeyId}`;
    if (apiKeyId !== undefined && this.#knownKeys.has(knownKey)) return;
    const failures = this.#failures.get(network);
    if (failures.count >= maxPerMinute) {
      const retryAfterSeconds = this.#failures.secondsUntilEnd(failures);
      throw new RateExceeded(
        { isAllowed: false, limit: maxPerMinute, remaining: 0, retryAfterSeconds },
        'Too many API keys from your address were wrong. Check the key, and try again in a minute.',
      );
    }
    if (apiKeyId === undefined) {
      this.#failures.add(network, failures);
      return;
    }
    this.#knownKeys.set(knownKey, true);
  }
}
