/** A date that falls further behind the clock starts a new anchor. */
const maxDateLagMs = 4000;
/**
 * Maximum jitter of arrival times, which are told from two clocks: media that waited together arrives at about the
 * same time.
 */
const maxJitterMs = 50;
/** An anchor is dated before its arrival, since the first media of a broadcast often comes late. */
const anchorMarginMs = 250;
/** Share of media time by which dates approach the arrival while the margin lasts. */
const marginRate = 0.05;
/** Share afterwards: more than clocks differ by, and too little for a connection that is slow for minutes. */
const driftRate = 0.0005;

interface Anchor {
  readonly wallMs: number;
  readonly mediaMs: number;
  readonly marginMs: number;
}

/**
 * Dates segments (EXT-X-PROGRAM-DATE-TIME) by counting media time from an anchor. No segment is dated later than it
 * arrived: some players stop loading at dates in the future. Earlier dates approach the arrival in small steps, so that
 * they follow the fastest arrivals. Lost time starts a new anchor. A clock set back behind the newest segment is ignored,
 * since no date may occur twice.
 */
export class ProgramDateTimes {
  /** Unix time of the newest segment; later ones are not dated before it. */
  lastMs = 0;
  #anchor: Anchor | undefined;

  restart(): void {
    this.#anchor = undefined;
  }

  /** `isLate`: time was lost before the segment. */
  dateOf(startMs: number, nowMs: number): { readonly date: number; readonly isLate: boolean } {
    const { wallMs, mediaMs, marginMs } = this.#anchor ?? this.#anchorAt(startMs, nowMs);
    const elapsedMs = startMs - mediaMs;
    const date = wallMs + elapsedMs;
    const isLate = nowMs - date > maxDateLagMs;
    const wasSetBack = this.lastMs - nowMs > maxJitterMs;
    if (isLate) this.#anchor = this.#anchorAt(startMs, nowMs);
    else if ((date > nowMs && !wasSetBack) || date < this.lastMs) {
      this.#anchor = { wallMs: Math.max(nowMs, this.lastMs), mediaMs: startMs, marginMs: 0 };
    } else {
      const maxStepMs = Math.max(Math.min(marginMs, elapsedMs * marginRate), elapsedMs * driftRate);
      const stepMs = Math.max(0, Math.min(nowMs - date, maxStepMs));
      this.#anchor = { wallMs: date + stepMs, mediaMs: startMs, marginMs: marginMs - stepMs };
    }
    this.lastMs = this.#anchor.wallMs;
    return { date: Math.round(this.lastMs), isLate };
  }

  #anchorAt(startMs: number, nowMs: number): Anchor {
    const wallMs = Math.max(nowMs - anchorMarginMs, this.lastMs);
    return { wallMs, mediaMs: startMs, marginMs: nowMs - wallMs };
  }
}
