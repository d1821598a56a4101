import { RateExceeded } from '../../http/routing/rate-limiter.ts';
import type { Clock } from '../../shared/clock.ts';
import { clientNetwork } from '../../shared/network/client-network.ts';

const windowMs = 60_000;
const maxNetworks = 10_000;
const maxKnown = 10_000;

interface Window {
  readonly endsAtMs: number;
  wrong: number;
}

/**
 * Limits wrong API keys by the network that they come from, in windows of a minute that begin with the first. When a window is used
 * up, keys from there are refused unseen, except those that were right from there before: a stranger behind the same address does
 * not shut others out.
 */
export class WrongKeyLimit {
  readonly #maxPerMinute: number;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  /** Networks and the keys that were right from there, the latest last. */
  readonly #known = new Set<string>();

  /** @param options.maxPerMinute 0 is no limit */
  constructor(options: { maxPerMinute: number; clock: Clock }) {
    this.#maxPerMinute = options.maxPerMinute;
    this.#clock = options.clock;
  }

  /**
   * Counts a key that was sent.
   *
   * @param apiKeyId the key's id; undefined when there is no such key
   * @throws RateExceeded when too many were wrong and this one was not right from there before
   */
  count(address: string, apiKeyId: string | undefined): void {
    if (this.#maxPerMinute === 0) return;
    const network = clientNetwork(address);
    const known = `${network} ${apiKeyId}`;
    if (apiKeyId !== undefined && this.#known.has(known)) return;
    const nowMs = this.#clock.monotonicMs();
    const current = this.#windows.get(network);
    const window =
      current !== undefined && nowMs < current.endsAtMs ? current : { endsAtMs: nowMs + windowMs, wrong: 0 };
    if (window.wrong >= this.#maxPerMinute) {
      const retryAfterSeconds = Math.ceil((window.endsAtMs - nowMs) / 1_000);
      throw new RateExceeded(
        { isAllowed: false, limit: this.#maxPerMinute, remaining: 0, retryAfterSeconds },
        'Too many API keys from your address were wrong. Check the key, and try again in a minute.',
      );
    }
    if (apiKeyId !== undefined) {
      addWithin(this.#known, known, maxKnown);
      return;
    }
    window.wrong += 1;
    this.#windows.delete(network);
    this.#windows.set(network, window);
    if (this.#windows.size > maxNetworks) this.#windows.delete(this.#windows.keys().next().value!);
  }
}

function addWithin(set: Set<string>, entry: string, max: number): void {
  set.add(entry);
  if (set.size > max) set.delete(set.values().next().value!);
}
