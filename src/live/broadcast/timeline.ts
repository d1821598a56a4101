import type { TrackKind } from '../../media/flv/flv-tag.ts';

interface Placement {
  /** Increases on each track. */
  readonly atMs: number;
  /** The distance from the previous media is unknown. */
  readonly isClockJump: boolean;
}

/** A larger step between two tags is a jump. */
const jumpMs = 3000;
/** A tag may be this much older than the newest of its track. */
const maxReorderMs = 1000;
/** Assumed duration of a tag after a jump. */
const nominalStepMs = 20;

/**
 * Converts timestamps, which wrap at 2^32, jump and run backwards, to one steady clock by adding an offset. When
 * neither this offset nor the previous one places a tag near its track's last one, the clock jumped. The previous
 * offset is kept because tracks do not jump at the same instant.
 */
export class Timeline {
  #offsetMs: number | undefined;
  #previousOffsetMs: number | undefined;
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  readonly #stepMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #newestMs: number;
  readonly #maxGapMs: number;
  readonly #maxGapAloneMs: number;

  /**
   * @param maxGapMs longer times without any tag are closed, unless the track is that slow
   * @param maxGapAloneMs likewise, without another track
   */
  constructor(maxGapMs: number, startMs = 0, maxGapAloneMs = maxGapMs) {
    this.#maxGapMs = maxGapMs;
    this.#maxGapAloneMs = maxGapAloneMs;
    this.#newestMs = startMs - nominalStepMs;
  }

  get endMs(): number {
    return this.#newestMs + nominalStepMs;
  }

  restart(): void {
    this.#offsetMs = undefined;
    this.#previousOffsetMs = undefined;
    this.#lastMs.audio = undefined;
    this.#lastMs.video = undefined;
  }

  /** @param timestampMs 0..2^32-1 */
  place(kind: TrackKind, timestampMs: number): Placement {
    if (this.#offsetMs === undefined) {
      this.#offsetMs = this.endMs - timestampMs;
      return this.#put(kind, this.endMs, false);
    }
    const offsetMs = this.#offsetNear(kind, timestampMs, this.#offsetMs);
    if (offsetMs !== undefined) return this.#put(kind, this.#closeGap(kind, timestampMs, offsetMs), false);
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = this.endMs - timestampMs;
    return this.#put(kind, this.endMs, true);
  }

  #offsetNear(kind: TrackKind, timestampMs: number, newestOffsetMs: number): number | undefined {
    if (this.#isNear(kind, timestampMs + newestOffsetMs)) return newestOffsetMs;
    const previousMs = this.#previousOffsetMs;
    return previousMs !== undefined && this.#isNear(kind, timestampMs + previousMs) ? previousMs : undefined;
  }

  #isNear(kind: TrackKind, atMs: number): boolean {
    const last = this.#lastMs[kind];
    if (last === undefined) return Math.abs(atMs - this.#newestMs) <= jumpMs;
    return atMs >= last - maxReorderMs && atMs <= Math.max(last, this.#newestMs) + jumpMs;
  }

  #closeGap(kind: TrackKind, timestampMs: number, offsetMs: number): number {
    const atMs = timestampMs + offsetMs;
    const stepMs = this.#stepMs[kind];
    if (stepMs === undefined || offsetMs !== this.#offsetMs) return atMs;
    const maxGapMs = this.#isAlone(kind) ? this.#maxGapAloneMs : this.#maxGapMs;
    if (atMs - this.#newestMs <= Math.max(maxGapMs, 3 * stepMs)) return atMs;
    const closedMs = this.#newestMs + Math.round(stepMs);
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = closedMs - timestampMs;
    return closedMs;
  }

  #isAlone(kind: TrackKind): boolean {
    const otherMs = this.#lastMs[kind === 'video' ? 'audio' : 'video'];
    return otherMs === undefined || otherMs < this.#newestMs - maxReorderMs;
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
