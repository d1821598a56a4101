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

/** The time that packets wait in queues of the network. */
class QueueDelay {
  #shortestRoundTripMs = Number.POSITIVE_INFINITY;
  #newestMs = 0;
  #ms = 0;

  get ms(): number {
    return this.#ms;
  }

  add(roundTripMs: number): void {
    this.#shortestRoundTripMs = Math.min(roundTripMs, this.#shortestRoundTripMs + roundTripDriftMs);
    const queueMs = roundTripMs - this.#shortestRoundTripMs;
    // A single report may be late because a program had to wait.
    this.#ms = Math.min(queueMs, this.#newestMs);
    this.#newestMs = queueMs;
  }
}

/** Counts of the window that is not over: packets that the client asked for, and those that its reports count as lost. */
const noCounts = () => ({ bytes: 0, packets: 0, missed: 0, reported: 0 });

/**
 * Limits what is sent to a client whose network carries less: when more than a twentieth of the packets is lost, and when they
 * take much longer than before.
 */
export class BandwidthEstimate {
  #limit = Number.POSITIVE_INFINITY;
  #windowStartMs = Number.NaN;
  /** The window before, because reports come late. */
  #previous = emptyWindow;
  #counts = noCounts();
  #reportedTotal: number | undefined;
  readonly #queue = new QueueDelay();
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
    this.#counts.packets += packets;
    this.#counts.bytes += bytes;
  }

  /** The client asks for a packet for the first time. */
  missed(): void {
    this.#counts.missed += 1;
  }

  /** @param packetsLost since the start of the track */
  reported(packetsLost: number, roundTripMs: number | undefined): void {
    this.#counts.reported += Math.max(0, packetsLost - (this.#reportedTotal ?? 0));
    this.#reportedTotal = packetsLost;
    if (roundTripMs !== undefined) this.#queue.add(roundTripMs);
  }

  /** Call it often. */
  tick(nowMs: number): void {
    if (Number.isNaN(this.#windowStartMs)) this.#windowStartMs = nowMs;
    const elapsedMs = nowMs - this.#windowStartMs;
    if (elapsedMs < windowMs) return;
    const { bytes: sentBytes, packets: sentPackets, missed, reported } = this.#counts;
    const current: Window = {
      ms: elapsedMs,
      bytes: sentBytes,
      packets: sentPackets,
      lost: Math.max(missed, reported),
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
      missed > heavyLostShare * current.packets && current.packets * 2 >= this.#previous.packets;
    this.#previous = current;
    if ((isHeavy || nowMs - this.#reducedAtMs >= settleMs) && sentBitsPerSecond > 0) {
      // With a limit, less may be sent only because the next keyframe is awaited.
      const base = this.#limit === Number.POSITIVE_INFINITY ? sentBitsPerSecond : this.#limit;
      if (lostShare > maxLostShare) this.#reduce(base * (1 - lostShare) * drainShare, nowMs);
      else if (this.#queue.ms > maxQueueMs) this.#reduce(base * delayReduction, nowMs);
      else if (nowMs - this.#changedAtMs >= this.#holdMs) this.#grow(nowMs);
    }
    this.#windowStartMs = nowMs;
    this.#counts = noCounts();
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
