/** A date that falls further behind the clock starts a new anchor. */
const maxDateLagMs = 4000;
/** Of arrival times, which are told from two clocks: media that waited together arrives at about the same time. */
const maxJitterMs = 50;

/**
 * Dates segments (EXT-X-PROGRAM-DATE-TIME) by counting media time from an anchor. No segment is dated later than it
 * arrived: some players stop loading at dates in the future. Lost time starts a new anchor. A clock set back behind
 * the newest segment is ignored, since no date may occur twice.
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
    const wasSetBack = this.lastMs - nowMs > maxJitterMs;
    if ((date > nowMs && !wasSetBack) || isLate || date < this.lastMs) {
      date = notBeforeMs;
      this.#anchor = { wallMs: date, mediaMs: startMs };
    }
    this.lastMs = date;
    return { date: Math.round(date), isLate };
  }
}
