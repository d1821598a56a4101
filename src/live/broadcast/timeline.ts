import type { TrackKind } from '../../media/flv/flv-tag.ts';

interface Placement {
  /** Milliseconds on the broadcast's clock, increasing on each track. */
  readonly atMs: number;
  /** The publisher's clock jumped: the distance from the previous media is not known. */
  readonly isClockJump: boolean;
}

/** A publisher's clock that moves further than this between two tags has jumped. */
const jumpMs = 3000;
/** A tag may be this much older than the newest of its track. */
const maxReorderMs = 1000;
/** Assumed duration of a tag where the clock does not tell. */
const nominalStepMs = 20;

/**
 * Converts a publisher's timestamps, which wrap at 2^32, jump and run backwards, to one steady clock for all tracks.
 *
 * An offset is added to each timestamp. When neither this offset nor the previous one places a tag near its track's last one, the
 * publisher's clock jumped: a new offset continues where the media ended. The previous offset is kept because the tracks do not jump at
 * the same instant. Gaps that no track fills are removed by changing the offset, too.
 */
export class Timeline {
  #offsetMs: number | undefined;
  #previousOffsetMs: number | undefined;
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  /** Usual distance between two tags of a track. */
  readonly #stepMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #newestMs: number;
  readonly #maxGapMs: number;

  /**
   * @param maxGapMs a time without any tag that is left as it is; longer ones are closed, unless the track is that slow
   * @param startMs time of the first tag
   */
  constructor(maxGapMs: number, startMs = 0) {
    this.#maxGapMs = maxGapMs;
    this.#newestMs = startMs - nominalStepMs;
  }

  /** End of the media so far. */
  get endMs(): number {
    return this.#newestMs + nominalStepMs;
  }

  /** Starts over with the clock of another publisher connection. */
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
    // A new track is compared with the newest tag of all tracks.
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
