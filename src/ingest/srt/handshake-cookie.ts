import { createHmac, randomBytes } from 'node:crypto';

const periodMs = 60_000;

/** Proves that a caller receives at the address that it sends from, so that a first packet costs no memory. */
export class HandshakeCookie {
  readonly #secret = randomBytes(32);

  issue(address: string, port: number, nowMs: number): number {
    return this.#of(address, port, Math.floor(nowMs / periodMs));
  }

  /** Cookies are valid for one to two minutes. */
  isValid(cookie: number, address: string, port: number, nowMs: number): boolean {
    const period = Math.floor(nowMs / periodMs);
    return cookie === this.#of(address, port, period) || cookie === this.#of(address, port, period - 1);
  }

  #of(address: string, port: number, period: number): number {
    const text = `${address} ${port} ${period}`;
    return createHmac('sha256', this.#secret).update(text).digest().readUInt32BE(0);
  }
}
