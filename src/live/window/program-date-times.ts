/** A date that falls further behind the clock starts a new anchor, unless the media catches up. */
const maxDateLagMs = 4000;
/** Share of media time by which media that catches up is less late than the segment before. */
const catchUpRate = 0.25;
/**
 * Maximum jitter of arrival times, which are told from two clocks: media that waited together arrives at about the
 * same time.
 */
const maxJitterMs = 50;
/** An anchor is dated before its arrival, since the first media of a broadcast often comes late. */
const anchorMarginMs = 250;
/** Margin of media that waited, and the longest step of it. */
const waitMarginMs = 1000;
const waitStepMs = 200;
/** Media that waited longer for what follows it, as slow pictures do, is dated by that. */
const maxWaitMs = 1000;
/** Share of media time by which dates approach the arrival while the margin lasts. */
const marginRate = 0.05;
/** Share afterwards: more than clocks differ by, and too little for a connection that is slow for minutes. */
const driftRate = 0.0005;
/** Dates of segments may overlap by less than a second. draft-pantos-hls-rfc8216bis-22, 6.2.1. */
const maxOverlapMs = 990;
/** Share of media time that they may overlap by: each date is later than the one before. */
const maxOverlapRate = 0.9;

interface Anchor {
  readonly wallMs: number;
  readonly mediaMs: number;
  readonly marginMs: number;
  /** Time by which the date is in the future, as media came faster than dates are set back. */
  readonly aheadMs: number;
}

/**
 * Dates segments (EXT-X-PROGRAM-DATE-TIME) by counting media time from an anchor. A segment that would be dated later
 * than it arrived is set back, by less than a second at a time: some players stop loading at dates in the future. Earlier
 * dates approach the arrival in small steps, so that they follow the fastest arrivals. Lost time starts a new anchor. A
 * clock set back behind the newest segment is ignored, since no date may occur twice.
 */
export class ProgramDateTimes {
  /** Unix time of the newest segment; later ones are not dated before it. */
  lastMs = 0;
  #anchor: Anchor | undefined;
  /** Age of the newest segment, if that was too late. */
  #lateMs: number | undefined;

  restart(): void {
    this.#anchor = undefined;
    this.#lateMs = undefined;
  }

  /**
   * @param nowMs arrival of the segment's first frame
   * @param recordedMs time before which that was recorded, which later frames tell
   * @returns `isLate`: time was lost before the segment
   */
  dateOf(
    startMs: number,
    nowMs: number,
    recordedMs = nowMs,
  ): { readonly date: number; readonly isLate: boolean } {
    const hasWaited = nowMs - recordedMs > maxWaitMs;
    const knownMs = hasWaited ? recordedMs : nowMs;
    const maxMarginMs = hasWaited ? waitMarginMs : anchorMarginMs;
    const { wallMs, mediaMs, marginMs, aheadMs } =
      this.#anchor ?? this.#anchorAt(startMs, knownMs, maxMarginMs);
    const elapsedMs = startMs - mediaMs;
    const date = wallMs + elapsedMs;
    const isLate = this.#isTimeLost(knownMs - date, elapsedMs);
    const wasSetBack = this.lastMs - aheadMs - nowMs > maxJitterMs;
    if (isLate) this.#anchor = this.#anchorAt(startMs, knownMs, maxMarginMs);
    else if ((date > nowMs && !wasSetBack) || date < this.lastMs) {
      const minMs = date - Math.min(maxOverlapMs, elapsedMs * maxOverlapRate);
      const wallMs = Math.max(nowMs, this.lastMs, minMs);
      const isAhead = !wasSetBack && wallMs - nowMs > maxJitterMs;
      this.#anchor = { wallMs, mediaMs: startMs, marginMs: 0, aheadMs: isAhead ? wallMs - nowMs : 0 };
    } else {
      const maxStepMs = Math.max(
        Math.min(marginMs > anchorMarginMs ? waitStepMs : marginMs, elapsedMs * marginRate),
        elapsedMs * driftRate,
      );
      const stepMs = Math.max(0, Math.min(knownMs - date, maxStepMs));
      this.#anchor = { wallMs: date + stepMs, mediaMs: startMs, marginMs: marginMs - stepMs, aheadMs: 0 };
    }
    this.lastMs = this.#anchor.wallMs;
    return { date: Math.round(this.lastMs), isLate };
  }

  #isTimeLost(lagMs: number, elapsedMs: number): boolean {
    const formerMs = this.#lateMs ?? Number.POSITIVE_INFINITY;
    const isLost = lagMs > maxDateLagMs && lagMs > formerMs - elapsedMs * catchUpRate;
    this.#lateMs = lagMs > maxDateLagMs && !isLost ? lagMs : undefined;
    return isLost;
  }

  #anchorAt(startMs: number, nowMs: number, maxMarginMs: number): Anchor {
    const wallMs = Math.max(nowMs - maxMarginMs, this.lastMs);
    return { wallMs, mediaMs: startMs, marginMs: nowMs - wallMs, aheadMs: 0 };
  }
}
