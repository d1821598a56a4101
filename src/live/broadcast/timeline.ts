import type { TrackKind } from '../../media/flv/flv-tag.ts';

/** Where a tag goes on the broadcast's own clock. */
export interface Placement {
  /** Milliseconds on the broadcast's clock; never less than the one before it on the same track. */
  readonly atMs: number;
  /** The publisher's clock broke here: what follows has no known distance from what came before. */
  readonly isClockJump: boolean;
}

/** A publisher's clock that moves further than this from one tag to the next has been set anew. */
const jumpMs = 3000;
/** Tags of two tracks arrive in turn, not in order: one that is this much older than the newest of its track is still in order. */
const maxReorderMs = 1000;
/** What one tag is taken to last where its clock cannot tell. */
const nominalStepMs = 20;

/**
 * Turns a publisher's timestamps, which wrap at 2^32, jump and run backwards, into one steady clock for all tracks.
 *
 * An offset is added to what the publisher says. When neither that offset nor the one before it puts a tag near its track's last one,
 * the publisher's clock was set anew: a new offset is taken that goes on where the media ended. The one before is kept because the
 * tracks do not jump in the same instant. A hole that no track fills is closed by the offset too, so that media time has no holes.
 */
export class Timeline {
  /** Offset now, and the one that it replaced. */
  #offsetMs: number | undefined;
  #previousOffsetMs: number | undefined;
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  /** How far apart tags of a track usually are. */
  readonly #stepMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #newestMs: number;
  readonly #maxGapMs: number;

  /**
   * @param maxGapMs a time without any tag that is left as it is; longer ones are closed, unless the track is that slow
   * @param startMs time of the first tag
   */
  constructor(longestHoleMs: number, startMs = 0) {
    this.#maxGapMs = longestHoleMs;
    this.#newestMs = startMs - nominalStepMs;
  }

  /** The end of all media placed so far, in milliseconds. */
  get endMs(): number {
    return this.#newestMs + nominalStepMs;
  }

  /** Another publisher connection begins, with a clock of its own. */
  restart(): void {
    this.#offsetMs = undefined;
    this.#previousOffsetMs = undefined;
    this.#lastMs.audio = undefined;
    this.#lastMs.video = undefined;
  }

  /** @param timestampMs as sent, 0..2^32-1 */
  place(kind: TrackKind, timestampMs: number): Placement {
    if (this.#offsetMs === undefined) {
      this.#offsetMs = this.endMs - timestampMs;
      return this.#put(kind, this.endMs, false);
    }
    for (const offsetMs of [this.#offsetMs, this.#previousOffsetMs]) {
      if (offsetMs !== undefined && this.#isNear(kind, timestampMs + offsetMs)) {
        return this.#put(kind, this.#closeGap(kind, timestampMs, offsetMs), false);
      }
    }
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = this.endMs - timestampMs;
    return this.#put(kind, this.endMs, true);
  }

  #isNear(kind: TrackKind, atMs: number): boolean {
    const last = this.#lastMs[kind];
    // A track that has not been seen may start late, and then far behind nothing.
    if (last === undefined) return Math.abs(atMs - this.#newestMs) <= jumpMs;
    return atMs >= last - maxReorderMs && atMs <= Math.max(last, this.#newestMs) + jumpMs;
  }

  #closeGap(kind: TrackKind, timestampMs: number, offsetMs: number): number {
    const atMs = timestampMs + offsetMs;
    const stepMs = this.#stepMs[kind];
    if (stepMs === undefined || offsetMs !== this.#offsetMs) return atMs;
    if (atMs - this.#newestMs <= Math.max(this.#maxGapMs, 3 * stepMs)) return atMs;
    const closedMs = this.#newestMs + Math.round(stepMs);
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = closedMs - timestampMs;
    return closedMs;
  }

  #put(kind: TrackKind, targetMs: number, isClockJump: boolean): Placement {
    const last = this.#lastMs[kind];
    const atMs = last === undefined ? Math.max(targetMs, 0) : Math.max(targetMs, last + 1);
    if (last !== undefined && !isClockJump) {
      const stepMs = this.#stepMs[kind] ?? atMs - last;
      this.#stepMs[kind] = stepMs + (atMs - last - stepMs) / 8;
    }
    this.#lastMs[kind] = atMs;
    this.#newestMs = Math.max(this.#newestMs, atMs);
    return { atMs, isClockJump };
  }
}
