import { isIPv4 } from 'node:net';
import { clientNetwork } from './client-network.ts';

export interface ConnectionLimiterOptions {
  /** 0 is no limit. */
  readonly maxPerAddress: number;
  /** Exempts addresses such as those of trusted proxies, which connect for many clients. */
  readonly isExempt: (address: string) => boolean;
}

export class ConnectionLimiter {
  readonly #options: ConnectionLimiterOptions;
  readonly #counts = new Map<string, number>();

  constructor(options: ConnectionLimiterOptions) {
    this.#options = options;
  }

  /** @returns a function to call once when the connection closes; undefined beyond the limit */
  open(remoteAddress: string): (() => void) | undefined {
    const { maxPerAddress, isExempt } = this.#options;
    const mapped = /^::ffff:(.*)$/i.exec(remoteAddress)?.[1] ?? '';
    const address = isIPv4(mapped) ? mapped : remoteAddress;
    // A closed connection has no address.
    if (maxPerAddress === 0 || address === '' || isExempt(address)) return () => {};
    const network = clientNetwork(address);
    const count = this.#counts.get(network) ?? 0;
    if (count >= maxPerAddress) return undefined;
    this.#counts.set(network, count + 1);
    return () => {
      const remaining = this.#counts.get(network)! - 1;
      if (remaining === 0) this.#counts.delete(network);
      else this.#counts.set(network, remaining);
    };
  }
}
