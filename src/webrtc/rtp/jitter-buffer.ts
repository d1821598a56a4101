import type { RtpPacket } from '../../media/rtp/rtp-packet.ts';
import { extendedNumber } from '../srtp/srtp-session.ts';

export interface OrderedPacket {
  readonly packet: RtpPacket;
  readonly arrivedAtMs: number;
  /** Packets between this one and the one before that were given up. */
  readonly missing: number;
}

interface JitterBufferOptions {
  /** A missing packet is waited for this long. */
  readonly maxWaitMs: number;
  /** False where the sender keeps no packets for retransmission. */
  readonly canRequest: boolean;
}

interface Missing {
  noticedAtMs: number;
  requestedAtMs: number;
  requests: number;
}

interface Arrived {
  readonly packet: RtpPacket;
  readonly arrivedAtMs: number;
}

/** A larger jump is a restart of the sender. */
const maxJump = 2_000;
const maxRequests = 10;
const minRequestIntervalMs = 30;
/** Pulls that are further apart were held up, and so was what arrived meanwhile. */
const maxPullGapMs = 100;

/** Puts packets of one source in order, and knows which are missing. Spans {@link maxJump} packets after each pull. */
export class JitterBuffer {
  readonly #options: JitterBufferOptions;
  /** Packets by extended sequence number. */
  readonly #waiting = new Map<number, Arrived>();
  readonly #missing = new Map<number, Missing>();
  #first: number | undefined;
  #next = 0;
  #highest = 0;
  #pulledAtMs = 0;
  #skipped = 0;
  #received = 0;
  #lost = 0;
  #recovered = 0;

  constructor(options: JitterBufferOptions) {
    this.#options = options;
  }

  /** Received packets, without duplicates and late ones. */
  get received(): number {
    return this.#received;
  }

  get lost(): number {
    return this.#lost;
  }

  get recovered(): number {
    return this.#recovered;
  }

  /** Highest sequence number, extended by its wraps. */
  get highest(): number {
    return this.#highest;
  }

  /** Packets that were sent, as far as we know. */
  get expected(): number {
    return this.#first === undefined ? 0 : this.#highest - this.#first + 1;
  }

  /** Packets may be due, or be asked for, as time passes. */
  get isWaiting(): boolean {
    return this.#missing.size > 0;
  }

  /** @param isRetransmitted of any age, so that it cannot be the first after a restart */
  push(packet: RtpPacket, nowMs: number, isRetransmitted = false): void {
    const number = extendedNumber(
      this.#first === undefined ? undefined : this.#highest,
      packet.sequenceNumber,
    );
    if (this.#first === undefined || Math.abs(number - this.#highest) > maxJump) {
      if (isRetransmitted) return;
      this.#restart(number);
    }
    if (number < this.#next || this.#waiting.has(number)) return;
    for (let each = this.#highest + 1; each < number; each++) {
      this.#missing.set(each, { noticedAtMs: nowMs, requestedAtMs: 0, requests: 0 });
      this.#lost += 1;
    }
    if (this.#missing.delete(number)) this.#recovered += 1;
    this.#highest = Math.max(this.#highest, number);
    this.#received += 1;
    this.#waiting.set(number, { packet, arrivedAtMs: nowMs });
  }

  /** The next packets in order. Passes over those that were waited for too long. Call it often while it is waiting. */
  *pull(nowMs: number): Generator<OrderedPacket> {
    this.#forgiveStall(nowMs);
    while (this.#next <= this.#highest) {
      const arrived = this.#waiting.get(this.#next);
      if (arrived === undefined) {
        const missing = this.#missing.get(this.#next);
        const canWait = this.#highest - this.#next <= maxJump;
        if (canWait && missing !== undefined && nowMs - missing.noticedAtMs < this.#options.maxWaitMs) return;
        this.#missing.delete(this.#next);
        this.#skipped += 1;
        this.#next += 1;
      } else {
        this.#waiting.delete(this.#next);
        const missing = this.#skipped;
        this.#skipped = 0;
        this.#next += 1;
        yield { ...arrived, missing };
      }
    }
  }

  /** Sequence numbers to ask the sender for now. @param roundTripMs until an answer can be here */
  requests(nowMs: number, roundTripMs: number): number[] {
    if (!this.#options.canRequest) return [];
    const intervalMs = Math.max(minRequestIntervalMs, roundTripMs);
    const numbers: number[] = [];
    for (const [number, missing] of this.#missing) {
      if (missing.requests >= maxRequests || nowMs - missing.requestedAtMs < intervalMs) continue;
      missing.requests += 1;
      missing.requestedAtMs = nowMs;
      numbers.push(number & 0xffff);
    }
    return numbers;
  }

  /** Retransmissions may have arrived that are not read yet. */
  #forgiveStall(nowMs: number): void {
    const gapMs = nowMs - this.#pulledAtMs;
    if (gapMs > maxPullGapMs) {
      for (const missing of this.#missing.values()) {
        if (missing.noticedAtMs <= this.#pulledAtMs) missing.noticedAtMs += gapMs;
      }
    }
    this.#pulledAtMs = nowMs;
  }

  #restart(number: number): void {
    if (this.#first !== undefined) this.#skipped += 1;
    this.#waiting.clear();
    this.#missing.clear();
    // Keeps the totals: what was expected goes on from there.
    this.#first = number - (this.#first === undefined ? 0 : this.expected);
    this.#next = number;
    this.#highest = number - 1;
  }
}
