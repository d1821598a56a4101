/** A date that falls further behind the clock starts a new anchor. */
const maxDateLagMs = 4000;

/**
 * Dates segments (EXT-X-PROGRAM-DATE-TIME) by counting media time from an anchor.
 *
 * A segment is never dated later than it arrived: a publisher that sends faster than real time would otherwise move dates into the
 * future, where some players stop loading. After lost time (a stalled network, a clock that was set) the dates start at a new anchor,
 * and the list says so. A clock that was set back behind the newest segment is ignored, since no date may occur twice.
 */
export class ProgramDateTimes {
  /** Milliseconds since 1970 of the newest segment; later segments are not dated before it. */
  lastMs = 0;
  #anchor: { wallMs: number; mediaMs: number } | undefined;

  /** Starts at a new anchor with the next segment. */
  restart(): void {
    this.#anchor = undefined;
  }

  /** Dates a segment that arrived at `nowMs`. `isLate`: time was lost before it. */
  dateOf(startMs: number, nowMs: number): { readonly date: number; readonly isLate: boolean } {
    const notBeforeMs = Math.max(nowMs, this.lastMs);
    this.#anchor ??= { wallMs: notBeforeMs, mediaMs: startMs };
    let date = this.#anchor.wallMs + (startMs - this.#anchor.mediaMs);
    const isLate = nowMs - date > maxDateLagMs;
    const wasSetBack = nowMs < this.lastMs;
    if ((date > nowMs && !wasSetBack) || isLate || date < this.lastMs) {
      date = notBeforeMs;
      this.#anchor = { wallMs: date, mediaMs: startMs };
    }
    this.lastMs = date;
    return { date: Math.round(date), isLate };
  }
}
