/** A date that falls further behind the clock starts a new anchor. */
const maxDateLagMs = 4000;
/** Of arrival times, which are told from two clocks: media that waited together arrives at about the same time. */
const maxJitterMs = 50;
/** A date that is further ahead of its arrival starts a new anchor: some players stop loading at dates in the future. */
const maxDateLeadMs = 1000;
/** Per segment, towards its arrival. More breaks the order of dates and media within a discontinuity. */
const maxCorrectionMs = 100;

/**
 * Dates segments (EXT-X-PROGRAM-DATE-TIME) by counting media time from an anchor. Where the anchor itself arrived late,
 * later segments are dated ahead of their arrival, and dates approach it in small steps. Lost time starts a new anchor.
 * A clock set back behind the newest segment is ignored, since no date may occur twice.
 */
export class ProgramDateTimes {
  /** Unix time of the newest segment; later ones are not dated before it. */
  lastMs = 0;
  #anchor: { wallMs: number; mediaMs: number } | undefined;

  restart(): void {
    this.#anchor = undefined;
  }

  /** `isLate`: time was lost before the segment. */
  dateOf(startMs: number, nowMs: number): { readonly date: number; readonly isLate: boolean } {
    const notBeforeMs = Math.max(nowMs, this.lastMs);
    this.#anchor ??= { wallMs: notBeforeMs, mediaMs: startMs };
    let date = this.#anchor.wallMs + (startMs - this.#anchor.mediaMs);
    const isLate = nowMs - date > maxDateLagMs;
    const wasSetBack = this.lastMs - nowMs > maxDateLeadMs + maxJitterMs;
    const leadMs = wasSetBack ? 0 : date - nowMs;
    if (leadMs >= maxDateLeadMs || isLate || date < this.lastMs) {
      date = notBeforeMs;
      this.#anchor = { wallMs: date, mediaMs: startMs };
    } else if (leadMs > 0) {
      date = Math.max(date - Math.min(leadMs, maxCorrectionMs), this.lastMs);
      this.#anchor = { wallMs: date, mediaMs: startMs };
    }
    this.lastMs = date;
    return { date: Math.round(date), isLate };
  }
}
