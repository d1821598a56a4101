import type { TrackKind } from '../../media/samples/media-sample.ts';

interface Placement {
  /** Increases on each track. */
  readonly atMs: number;
  /** The distance from the previous media is unknown. */
  readonly isClockJump: boolean;
}

interface TrackTimes {
  lastMs: number | undefined;
  stepMs: number | undefined;
}

/** A larger step between two tags is a jump, unless pictures are that slow. */
const minJumpMs = 3000;
/** Encoders may declare the rate of fields, and skip a picture. */
const jumpFrames = 3;
/** Longest picture that a declared rate is believed for. */
const maxFrameMs = 60_000;
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
  readonly #audio: TrackTimes = { lastMs: undefined, stepMs: undefined };
  readonly #video: TrackTimes = { lastMs: undefined, stepMs: undefined };
  /** Newest times of additional tracks. */
  readonly #additionalMs = new Map<string, number>();
  #newestMs: number;
  #jumpMs = minJumpMs;
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

  /** @param seconds that a picture lasts, as the encoder declares */
  expectFrames(seconds: number): void {
    this.#jumpMs = Math.max(minJumpMs, jumpFrames * Math.min(seconds * 1000, maxFrameMs));
  }

  restart(): void {
    this.#jumpMs = minJumpMs;
    this.#offsetMs = undefined;
    this.#previousOffsetMs = undefined;
    this.#audio.lastMs = undefined;
    this.#video.lastMs = undefined;
    this.#additionalMs.clear();
  }

  /** Places an additional track, which follows the main ones; undefined for times that are not near theirs. */
  placeAdditional(track: string, timestampMs: number): number | undefined {
    for (const offsetMs of [this.#offsetMs, this.#previousOffsetMs]) {
      if (offsetMs === undefined) continue;
      const targetMs = timestampMs + offsetMs;
      if (targetMs < 0 || Math.abs(targetMs - this.#newestMs) > this.#jumpMs) continue;
      const lastMs = this.#additionalMs.get(track) ?? Number.NEGATIVE_INFINITY;
      if (targetMs < lastMs - maxReorderMs) continue;
      const atMs = Math.max(targetMs, lastMs + 1);
      this.#additionalMs.set(track, atMs);
      return atMs;
    }
    return undefined;
  }

  /** @param timestampMs 0..2^32-1 */
  place(kind: TrackKind, timestampMs: number): Placement {
    const track = kind === 'video' ? this.#video : this.#audio;
    if (this.#offsetMs === undefined) {
      this.#offsetMs = this.endMs - timestampMs;
      return this.#put(track, this.endMs, false);
    }
    const offsetMs = this.#offsetNear(track, timestampMs, this.#offsetMs);
    if (offsetMs !== undefined) return this.#put(track, this.#closeGap(track, timestampMs, offsetMs), false);
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = this.endMs - timestampMs;
    return this.#put(track, this.endMs, true);
  }

  #offsetNear(track: TrackTimes, timestampMs: number, newestOffsetMs: number): number | undefined {
    if (this.#isNear(track, timestampMs + newestOffsetMs)) return newestOffsetMs;
    const previousMs = this.#previousOffsetMs;
    return previousMs !== undefined && this.#isNear(track, timestampMs + previousMs) ? previousMs : undefined;
  }

  #isNear(track: TrackTimes, atMs: number): boolean {
    const last = track.lastMs;
    if (last === undefined) return Math.abs(atMs - this.#newestMs) <= this.#jumpMs;
    return atMs >= last - maxReorderMs && atMs <= Math.max(last, this.#newestMs) + this.#jumpMs;
  }

  #closeGap(track: TrackTimes, timestampMs: number, offsetMs: number): number {
    const atMs = timestampMs + offsetMs;
    const { stepMs } = track;
    if (stepMs === undefined || offsetMs !== this.#offsetMs) return atMs;
    const maxGapMs = this.#isAlone(track) ? this.#maxGapAloneMs : this.#maxGapMs;
    if (atMs - this.#newestMs <= Math.max(maxGapMs, 3 * stepMs)) return atMs;
    const closedMs = this.#newestMs + Math.round(stepMs);
    this.#previousOffsetMs = this.#offsetMs;
    this.#offsetMs = closedMs - timestampMs;
    return closedMs;
  }

  #isAlone(track: TrackTimes): boolean {
    const otherMs = (track === this.#video ? this.#audio : this.#video).lastMs;
    return otherMs === undefined || otherMs < this.#newestMs - maxReorderMs;
  }

  #put(track: TrackTimes, targetMs: number, isClockJump: boolean): Placement {
    const last = track.lastMs;
    const atMs = last === undefined ? Math.max(targetMs, 0) : Math.max(targetMs, last + 1);
    if (last !== undefined && !isClockJump) {
      const stepMs = track.stepMs ?? atMs - last;
      track.stepMs = stepMs + (atMs - last - stepMs) / 8;
    }
    track.lastMs = atMs;
    this.#newestMs = Math.max(this.#newestMs, atMs);
    return { atMs, isClockJump };
  }
}
