import type { TrackKind } from '../../media/flv/flv-tag.ts';

/** How a broadcast does at this moment, as far as its media tells. */
export interface MeterStats {
  /** Audio and video, as the mean of the last {@link smoothedSeconds}; a whole number. */
  readonly bitrateBitsPerSecond: number;
  /** The most that came in over a second. */
  readonly peakBitrateBitsPerSecond: number;
  /** Video frames, as the mean of the last {@link smoothedSeconds}; a whole number. */
  readonly framesPerSecond: number;
  /** Frames of picture that came in and were not packaged. */
  readonly droppedFrames: number;
  /** Frames of picture that the publisher's timestamps leave out. */
  readonly missingFrames: number;
  /** Between the last two keyframes; undefined before the second. */
  readonly keyframeIntervalSeconds: number | undefined;
  /** The longest of the broadcast; undefined before the second keyframe. */
  readonly longestKeyframeIntervalSeconds: number | undefined;
}

/** Bits and frames of picture a second, over some seconds. */
export interface MeanRate {
  readonly bitsPerSecond: number;
  readonly framesPerSecond: number;
}

const slotMs = 100;
const slotsPerSecond = 10;
/**
 * Rates are means of so many seconds. These hold whole groups of pictures at the usual keyframe intervals of 1, 2 and 4 s, so that a
 * keyframe is no peak; a stream that drops to half its rate reads so after 4 s, and three quarters of it after 2 s.
 */
export const smoothedSeconds = 4;
const smoothedSlots = smoothedSeconds * slotsPerSecond;
/** The seconds that are over, the slot that fills, and one to spare. */
const slotCount = smoothedSlots + 2;
/** Whole seconds that are remembered: a minute, and those that are compared with it. */
const secondCount = 70;
/** A silence that is longer than all that is remembered. */
const mostSlots = (secondCount + 2) * slotsPerSecond;
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
  readonly #secondBytes = new Float64Array(secondCount);
  readonly #secondFrames = new Uint32Array(secondCount);
  /** Number of the next second to be remembered. */
  #nextSecond = 0;
  /** Whole seconds of this publisher connection. */
  #knownSeconds = 0;
  #totalBytes = 0;
  #totalFrames = 0;
  #peakBytes = 0;
  /** Number of the slot that fills, in slots since the clock's start. */
  #newestSlot = 0;
  /** The slot in which this publisher connection began. */
  #firstSlot = 0;
  #droppedFrames = 0;
  #missingFrames = 0;
  #lastTimestampMs: number | undefined;
  #usualStepMs: number | undefined;
  #longSteps = 0;
  #lastPictureMs = 0;
  #lastKeyframeMs: number | undefined;
  #keyframeIntervalMs: number | undefined;
  #longestKeyframeIntervalMs: number | undefined;

  /** Bytes of picture and sound, of the whole broadcast. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Frames of picture, of the whole broadcast. */
  get totalFrames(): number {
    return this.#totalFrames;
  }

  /**
   * A publisher connection began or was lost: its rates and timestamps have nothing to do with those before.
   *
   * @param nowMs monotonic
   */
  restart(nowMs: number): void {
    this.#advance(nowMs);
    this.#bytes.fill(0);
    this.#frames.fill(0);
    this.#firstSlot = this.#newestSlot;
    // The second that it begins in is not whole.
    this.#knownSeconds = -1;
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
    this.#totalBytes += bytes;
    if (kind === 'audio') return;
    this.#frames[slot]! += 1;
    this.#totalFrames += 1;
  }

  /**
   * The times of a frame of picture.
   *
   * @param timestampMs as sent, 0..2^32-1
   * @param atMs on the broadcast's clock
   * @returns how many frames are missing before it
   */
  videoFrame(timestampMs: number, atMs: number, isKeyframe: boolean): number {
    this.#lastPictureMs = atMs;
    if (isKeyframe) this.#keyframeAt(atMs);
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

  /**
   * Seconds from one keyframe to the next, or to the newest frame where that is more already; undefined before the first. By the
   * broadcast's clock.
   */
  get keyframeDistanceSeconds(): number | undefined {
    if (this.#lastKeyframeMs === undefined) return undefined;
    return Math.max(this.#keyframeIntervalMs ?? 0, this.#lastPictureMs - this.#lastKeyframeMs) / 1000;
  }

  /**
   * What came in over whole seconds of this publisher connection, with those beginning `skip` seconds ago left out; undefined where
   * fewer than `minRewindSeconds` are known.
   *
   * @param nowMs monotonic
   */
  meanOf(nowMs: number, skip: number, seconds: number, leastSeconds = seconds): MeanRate | undefined {
    this.#advance(nowMs);
    const count = Math.min(seconds, this.#knownSeconds - skip, secondCount - skip);
    if (count < leastSeconds) return undefined;
    let bytes = 0;
    let frames = 0;
    for (let back = skip + 1; back <= skip + count; back += 1) {
      const second = (this.#nextSecond - back + secondCount * 2) % secondCount;
      bytes += this.#secondBytes[second]!;
      frames += this.#secondFrames[second]!;
    }
    return { bitsPerSecond: (bytes * 8) / count, framesPerSecond: frames / count };
  }

  /**
   * The rates of this publisher connection in windows of whole seconds, newest first: as many as are known.
   *
   * @param nowMs monotonic
   */
  rates(nowMs: number, windowSeconds: number): MeanRate[] {
    const rates: MeanRate[] = [];
    for (let skip = 0; skip < secondCount; skip += windowSeconds) {
      const rate = this.meanOf(nowMs, skip, windowSeconds);
      if (rate === undefined) break;
      rates.push(rate);
    }
    return rates;
  }

  /** @param nowMs monotonic */
  stats(nowMs: number): MeterStats {
    this.#advance(nowMs);
    // The first second of a connection is divided by a whole one: encoders begin with a burst.
    const slots = Math.min(smoothedSlots, Math.max(slotsPerSecond, this.#newestSlot - this.#firstSlot));
    const { bytes, frames } = this.#lastSlots(slots);
    const perSecond = slotsPerSecond / slots;
    return {
      bitrateBitsPerSecond: Math.round(bytes * 8 * perSecond),
      peakBitrateBitsPerSecond: Math.max(this.#peakBytes, this.#lastSlots(slotsPerSecond).bytes) * 8,
      framesPerSecond: Math.round(frames * perSecond),
      droppedFrames: this.#droppedFrames,
      missingFrames: this.#missingFrames,
      keyframeIntervalSeconds: secondsOf(this.#keyframeIntervalMs),
      longestKeyframeIntervalSeconds: secondsOf(this.#longestKeyframeIntervalMs),
    };
  }

  #keyframeAt(atMs: number): void {
    if (this.#lastKeyframeMs !== undefined) {
      this.#keyframeIntervalMs = atMs - this.#lastKeyframeMs;
      this.#longestKeyframeIntervalMs = Math.max(
        this.#longestKeyframeIntervalMs ?? 0,
        this.#keyframeIntervalMs,
      );
    }
    this.#lastKeyframeMs = atMs;
  }

  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot - this.#newestSlot > mostSlots) this.#newestSlot = slot - mostSlots;
    while (this.#newestSlot < slot) {
      this.#newestSlot += 1;
      if (this.#newestSlot % slotsPerSecond === 0) this.#keepSecond();
      this.#bytes[this.#newestSlot % slotCount] = 0;
      this.#frames[this.#newestSlot % slotCount] = 0;
    }
  }

  #keepSecond(): void {
    const { bytes, frames } = this.#lastSlots(slotsPerSecond);
    this.#secondBytes[this.#nextSecond] = bytes;
    this.#secondFrames[this.#nextSecond] = frames;
    this.#nextSecond = (this.#nextSecond + 1) % secondCount;
    this.#knownSeconds = Math.min(this.#knownSeconds + 1, secondCount);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
  }

  /** Adds up the last `count` slots before the newest. */
  #lastSlots(count: number): { readonly bytes: number; readonly frames: number } {
    let bytes = 0;
    let frames = 0;
    for (let back = 1; back <= count; back += 1) {
      const slot = (this.#newestSlot - back + slotCount) % slotCount;
      bytes += this.#bytes[slot]!;
      frames += this.#frames[slot]!;
    }
    return { bytes, frames };
  }
}

/** To whole milliseconds. */
function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms) / 1000;
}
