import type { TransportPath } from './transport-path.ts';

/** A path may be used for this long after a check that was answered from there. RFC 7675, 5.1. */
const consentMs = 30_000;
/** Bytes to an address that has not answered, for each byte from there, since anyone can send in its name. As of QUIC: RFC 9000, 8.1. */
const maxAmplification = 3;
const maxOpenChecks = 8;
/** Early packets that are kept; the first message of a client fits. */
const maxEarlyPackets = 4;
const maxEarlyPacketBytes = 2_048;

/**
 * A path as one client uses it. The client consents to it by answering our checks from there. Before that, it carries STUN
 * messages only, and few of them.
 */
export class IcePath {
  readonly transport: TransportPath;
  /** Time of the newest check that was answered. */
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  /** Bytes that may still be sent without consent. */
  #allowance = 0;
  /** Times of checks without an answer, by transaction. */
  readonly #openChecks = new Map<string, number>();
  /** Came before consent. */
  #earlyPackets: Buffer[] = [];

  constructor(transport: TransportPath) {
    this.transport = transport;
  }

  /** Time since the newest check that was answered. */
  silenceMs(nowMs: number): number {
    return nowMs - this.#confirmedAtMs;
  }

  hasConsent(nowMs: number): boolean {
    return this.silenceMs(nowMs) < consentMs;
  }

  isCheckDue(nowMs: number, everyMs: number): boolean {
    const canSend = this.#allowance > 0 || this.hasConsent(nowMs);
    return canSend && nowMs - this.#checkedAtMs >= everyMs;
  }

  /** @param packet copied. Drops it where clients send none like it */
  keepEarlyPacket(packet: Buffer): void {
    const hasRoom = this.#earlyPackets.length < maxEarlyPackets;
    if (hasRoom && packet.length <= maxEarlyPacketBytes) this.#earlyPackets.push(Buffer.from(packet));
  }

  takeEarlyPackets(): readonly Buffer[] {
    const packets = this.#earlyPackets;
    this.#earlyPackets = [];
    return packets;
  }

  received(bytes: number, nowMs: number): void {
    if (!this.hasConsent(nowMs)) this.#allowance += bytes * maxAmplification;
  }

  sendStun(message: Buffer, nowMs: number): void {
    if (!this.hasConsent(nowMs)) {
      const rest = this.#allowance - message.length;
      this.#allowance = Math.max(0, rest);
      if (rest < 0) return;
    }
    this.transport.send(message);
  }

  /** @param transaction that nobody can guess */
  sendCheck(message: Buffer, transaction: string, nowMs: number): void {
    this.#checkedAtMs = nowMs;
    const [oldest] = this.#openChecks.keys();
    if (this.#openChecks.size >= maxOpenChecks && oldest !== undefined) this.#openChecks.delete(oldest);
    this.#openChecks.set(transaction, nowMs);
    this.sendStun(message, nowMs);
  }

  hasOpenCheck(transaction: string): boolean {
    return this.#openChecks.has(transaction);
  }

  /** Returns the time of the check. */
  confirm(transaction: string): number {
    const sentAtMs = this.#openChecks.get(transaction)!;
    this.#openChecks.delete(transaction);
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, sentAtMs);
    this.#allowance = 0;
    return sentAtMs;
  }
}
