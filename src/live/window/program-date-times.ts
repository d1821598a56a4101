/** Dates may fall this far behind the clock before they are set anew. */
const maxDateLagMs = 4000;

/**
 * Dates follow the media from one anchor. A publisher that sends faster than time passes would bring them into the future, where some
 * players stop loading: a segment is never dated later than it came in. One that lost time (a network that stood still, a clock that was
 * set) would leave them behind for good: the list says that time was lost, and dates start anew. Where the clock was set back beyond the
 * newest segment they go on with the media, since no date may stand for two pictures.
 */
export class ProgramDateTimes {
  /** Of the newest segment, in milliseconds since 1970: no later one is dated before it. */
  lastMs = 0;
  #anchor: { wallMs: number; mediaMs: number } | undefined;

  /** What comes now has nothing to do with what was before. */
  restart(): void {
    this.#anchor = undefined;
  }

  /** Dates a segment that came in at `nowMs`. `isLate`: time was lost before it. */
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
