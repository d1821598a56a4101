import type { TrackKind } from './timeline.ts';

/** How a broadcast does at this moment, as far as its media tells. */
export interface MeterReading {
  /** Picture and sound that came in over the last second. */
  readonly bitrateBitsPerSecond: number;
  /** Frames of picture that came in over the last second. */
  readonly framesPerSecond: number;
  /** Frames of picture that came in and were not packaged. */
  readonly droppedFrames: number;
  /** Frames of picture that the publisher's timestamps leave out. */
  readonly missingFrames: number;
  /** Between the last two keyframes; undefined before the second. */
  readonly keyframeIntervalSeconds: number | undefined;
}

const slotMs = 100;
const slotsPerSecond = 10;
/** A second that is over, the slot that fills, and one to spare. */
const slotCount = 12;
/** A longer step is a clock that was set anew. */
const longestStepMs = 3000;
/** RTMP rounds times to milliseconds, so steps differ by that much. */
const roundingMs = 2;
/** So many long steps in a row are no losses but another frame rate. */
const stepsOfAnotherRate = 5;

/** Counts what comes in from a publisher. It is told of every frame, and allocates nothing for it. */
export class BroadcastMeter {
  readonly #bytes = new Float64Array(slotCount);
  readonly #frames = new Uint32Array(slotCount);
  /** Number of the slot that fills, in slots since the clock's start. */
  #newestSlot = 0;
  #droppedFrames = 0;
  #missingFrames = 0;
  #lastTimestampMs: number | undefined;
  #usualStepMs: number | undefined;
  #longSteps = 0;
  #lastKeyframeMs: number | undefined;
  #keyframeIntervalMs: number | undefined;

  /** Another publisher connection: its timestamps have nothing to do with those before. */
  restart(): void {
    this.#lastTimestampMs = undefined;
    this.#usualStepMs = undefined;
    this.#longSteps = 0;
    this.#lastKeyframeMs = undefined;
  }

  /** A tag with media came in. @param nowMs monotonic */
  arrived(kind: TrackKind, bytes: number, nowMs: number): void {
    this.#advance(nowMs);
    const slot = this.#newestSlot % slotCount;
    this.#bytes[slot]! += bytes;
    if (kind === 'video') this.#frames[slot]! += 1;
  }

  /**
   * The times of a frame of picture.
   *
   * @param timestampMs as sent, 0..2^32-1
   * @param atMs on the broadcast's clock
   * @returns how many frames are missing before it
   */
  pictured(timestampMs: number, atMs: number, isKeyframe: boolean): number {
    if (isKeyframe) {
      if (this.#lastKeyframeMs !== undefined) this.#keyframeIntervalMs = atMs - this.#lastKeyframeMs;
      this.#lastKeyframeMs = atMs;
    }
    const last = this.#lastTimestampMs;
    this.#lastTimestampMs = timestampMs;
    if (last === undefined) return 0;
    // Timestamps wrap at 2^32: the difference as a signed number of 32 bits is right across that too.
    const stepMs = (timestampMs - last) | 0;
    if (stepMs <= 0 || stepMs > longestStepMs) return 0;
    const usual = this.#usualStepMs;
    if (usual === undefined || stepMs <= 1.5 * usual + roundingMs) {
      this.#usualStepMs = usual === undefined ? stepMs : usual + (stepMs - usual) / 8;
      this.#longSteps = 0;
      return 0;
    }
    this.#longSteps += 1;
    if (this.#longSteps >= stepsOfAnotherRate) {
      this.#usualStepMs = stepMs;
      this.#longSteps = 0;
      return 0;
    }
    const missing = Math.round(stepMs / usual) - 1;
    this.#missingFrames += missing;
    return missing;
  }

  /** Frames of picture that came in are not packaged. */
  dropped(count: number): void {
    this.#droppedFrames += count;
  }

  /** @param nowMs monotonic */
  read(nowMs: number): MeterReading {
    this.#advance(nowMs);
    let bytes = 0;
    let frames = 0;
    for (let back = 1; back <= slotsPerSecond; back += 1) {
      const slot = (this.#newestSlot - back + slotCount) % slotCount;
      bytes += this.#bytes[slot]!;
      frames += this.#frames[slot]!;
    }
    return {
      bitrateBitsPerSecond: bytes * 8,
      framesPerSecond: frames,
      droppedFrames: this.#droppedFrames,
      missingFrames: this.#missingFrames,
      keyframeIntervalSeconds:
        this.#keyframeIntervalMs === undefined ? undefined : Math.round(this.#keyframeIntervalMs) / 1000,
    };
  }

  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot - this.#newestSlot >= slotCount) this.#newestSlot = slot - slotCount;
    while (this.#newestSlot < slot) {
      this.#newestSlot += 1;
      this.#bytes[this.#newestSlot % slotCount] = 0;
      this.#frames[this.#newestSlot % slotCount] = 0;
    }
  }
}
