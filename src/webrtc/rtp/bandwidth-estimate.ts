const windowMs = 500;
/** Below it, not even audio gets through. */
const minBitsPerSecond = 100_000;
const maxBitsPerSecond = 50_000_000;
/** Retransmissions make up for less. */
const maxLostShare = 0.05;
/** The limit is still far too high. Requests for packets come soon, so it falls at once. */
const heavyLostShare = 0.2;
/** Packets that wait longer than this on the way fill a queue of the network. */
const maxQueueMs = 400;
/** The shortest round trip rises this much with each report, because routes change. */
const roundTripDriftMs = 5;
/** Reports tell of packets that were sent before. */
const settleMs = 2_000;
const delayReduction = 0.6;
/** Lets the queues of the network drain after losses. */
const drainShare = 0.85;
/** A limit falls to this share of it at once, because losses may be those of packets that were sent faster. */
const minReduction = 0.5;
/** Time without congestion until more is tried; doubles while that leads to congestion. */
const firstHoldMs = 8_000;
const maxHoldMs = 64_000;
const growth = 1.5;

interface Window {
  readonly ms: number;
  readonly bytes: number;
  readonly packets: number;
  readonly lost: number;
}

const emptyWindow: Window = { ms: 0, bytes: 0, packets: 0, lost: 0 };

/**
 * Limits what is sent to a client whose network carries less: when more than a twentieth of the packets is lost, and when they
 * take much longer than before.
 */
export class BandwidthEstimate {
  #limit = Number.POSITIVE_INFINITY;
  #windowStartMs = Number.NaN;
  /** The window before, because reports come late. */
  #previous = emptyWindow;
  #bytes = 0;
  #packets = 0;
  /** Packets of this window that the client asked for, and those that its reports count as lost. */
  #missed = 0;
  #reported = 0;
  #reportedTotal: number | undefined;
  #shortestRoundTripMs = Number.POSITIVE_INFINITY;
  #newestQueueMs = 0;
  #queueMs = 0;
  #holdMs = firstHoldMs;
  /** Times of the last reduction, and of the last one or growth. */
  #reducedAtMs = Number.NEGATIVE_INFINITY;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  /** Infinite without congestion. */
  get bitsPerSecond(): number {
    return this.#limit;
  }

  sent(packets: number, bytes: number): void {
    this.#packets += packets;
    this.#bytes += bytes;
  }

  /** The client asks for a packet for the first time. */
  missed(): void {
    this.#missed += 1;
  }

  /** @param packetsLost since the start of the track */
  reported(packetsLost: number, roundTripMs: number | undefined): void {
    this.#reported += Math.max(0, packetsLost - (this.#reportedTotal ?? 0));
    this.#reportedTotal = packetsLost;
    if (roundTripMs === undefined) return;
    this.#shortestRoundTripMs = Math.min(roundTripMs, this.#shortestRoundTripMs + roundTripDriftMs);
    const queueMs = roundTripMs - this.#shortestRoundTripMs;
    // A single report may be late because a program had to wait.
    this.#queueMs = Math.min(queueMs, this.#newestQueueMs);
    this.#newestQueueMs = queueMs;
  }

  /** Call it often. */
  tick(nowMs: number): void {
    if (Number.isNaN(this.#windowStartMs)) this.#windowStartMs = nowMs;
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs < windowMs) return;
    const current: Window = {
      ms: elapsedMs,
      bytes: this.#bytes,
      packets: this.#packets,
      lost: Math.max(this.#missed, this.#reported),
    };
    const sum = (of: (window: Window) => number) => of(current) + of(this.#previous);
    const sentBitsPerSecond = (sum(({ bytes }) => bytes) * 8_000) / sum(({ ms }) => ms);
    const lostShare = Math.min(
      1,
      sum(({ lost }) => lost) /
        Math.max(
          1,
          sum(({ packets }) => packets),
        ),
    );
    const isHeavy =
      this.#missed > heavyLostShare * current.packets && current.packets * 2 >= this.#previous.packets;
    this.#previous = current;
    if ((isHeavy || nowMs - this.#reducedAtMs >= settleMs) && sentBitsPerSecond > 0) {
      // With a limit, less may be sent only because the next keyframe is awaited.
      const base = this.#limit === Number.POSITIVE_INFINITY ? sentBitsPerSecond : this.#limit;
      if (lostShare > maxLostShare) this.#reduce(base * (1 - lostShare) * drainShare, nowMs);
      else if (this.#queueMs > maxQueueMs) this.#reduce(base * delayReduction, nowMs);
      else if (nowMs - this.#changedAtMs >= this.#holdMs) this.#grow(nowMs);
    }
    this.#windowStartMs = nowMs;
    this.#bytes = 0;
    this.#packets = 0;
    this.#missed = 0;
    this.#reported = 0;
  }

  #reduce(bitsPerSecond: number, nowMs: number): void {
    if (this.#isProbing) this.#holdMs = Math.min(maxHoldMs, this.#holdMs * 2);
    this.#isProbing = false;
    this.#reducedAtMs = nowMs;
    this.#changedAtMs = nowMs;
    const least = this.#limit === Number.POSITIVE_INFINITY ? 0 : this.#limit * minReduction;
    this.#limit = Math.max(minBitsPerSecond, least, Math.min(this.#limit, bitsPerSecond));
  }

  #grow(nowMs: number): void {
    if (this.#limit === Number.POSITIVE_INFINITY) return;
    // The growth before this one has led to no congestion.
    if (this.#isProbing) this.#holdMs = firstHoldMs;
    this.#isProbing = true;
    this.#changedAtMs = nowMs;
    this.#limit = this.#limit > maxBitsPerSecond ? Number.POSITIVE_INFINITY : this.#limit * growth;
  }
}
