import type { TrackKind } from '../../media/samples/media-sample.ts';

export interface MeterStats {
  /** Audio and video, averaged over {@link smoothedSeconds}; a whole number. */
  readonly bitrateBitsPerSecond: number;
  readonly peakBitrateBitsPerSecond: number;
  /** Averaged over {@link smoothedSeconds}; a whole number. */
  readonly framesPerSecond: number;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly keyframeIntervalSeconds: number | undefined;
  /** Undefined before the second keyframe. */
  readonly longestKeyframeIntervalSeconds: number | undefined;
}

export interface MeanRate {
  readonly bitsPerSecond: number;
  readonly framesPerSecond: number;
}

const slotMs = 100;
const slotsPerSecond = 10;
/** Holds whole GOPs at the usual keyframe intervals of 1, 2 and 4 s, so that a keyframe is no peak. */
const smoothedSeconds = 4;
const smoothedSlots = smoothedSeconds * slotsPerSecond;
const slotCount = smoothedSlots + 2;
/** A minute, and the seconds that are compared with it. */
const secondCount = 70;
const maxSlots = (secondCount + 2) * slotsPerSecond;
/** A longer step is a reset of the publisher's clock. */
const maxStepMs = 3000;
/** RTMP rounds times to milliseconds. */
const roundingMs = 2;
/** Long steps in a row that are another frame rate, not losses. */
const minStepsOfNewRate = 5;

/** Measures a publisher's media. Allocates nothing per frame. */
export class BroadcastMeter {
  readonly #bytes = new Float64Array(slotCount);
  readonly #frames = new Uint32Array(slotCount);
  readonly #secondBytes = new Float64Array(secondCount);
  readonly #secondFrames = new Uint32Array(secondCount);
  #nextSecond = 0;
  #knownSeconds = 0;
  #totalBytes = 0;
  #totalFrames = 0;
  #peakBytes = 0;
  /** Newest slot, counted since the clock's start. */
  #newestSlot = 0;
  #firstSlot = 0;
  #droppedFrames = 0;
  #missingFrames = 0;
  #lastTimestampMs: number | undefined;
  #usualStepMs: number | undefined;
  #longSteps = 0;
  #lastFrameAtMs = 0;
  #lastKeyframeAtMs: number | undefined;
  #keyframeIntervalMs: number | undefined;
  #maxKeyframeIntervalMs: number | undefined;

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get totalFrames(): number {
    return this.#totalFrames;
  }

  /** @param nowMs monotonic */
  restart(nowMs: number): void {
    this.#advance(nowMs);
    this.#bytes.fill(0);
    this.#frames.fill(0);
    this.#firstSlot = this.#newestSlot;
    this.#knownSeconds = -1;
    this.#lastTimestampMs = undefined;
    this.#usualStepMs = undefined;
    this.#longSteps = 0;
    this.#lastKeyframeAtMs = undefined;
  }

  arrived(kind: TrackKind, bytes: number, nowMs: number): void {
    this.#advance(nowMs);
    const slot = this.#newestSlot % slotCount;
    this.#bytes[slot]! += bytes;
    this.#totalBytes += bytes;
    if (kind === 'audio') return;
    this.#frames[slot]! += 1;
    this.#totalFrames += 1;
  }

  /** @param timestampMs as sent, 0..2^32-1 @param atMs on the broadcast's clock @returns frames missing before it */
  videoFrame(timestampMs: number, atMs: number, isKeyframe: boolean): number {
    this.#lastFrameAtMs = atMs;
    if (isKeyframe) this.#keyframeAt(atMs);
    const last = this.#lastTimestampMs;
    this.#lastTimestampMs = timestampMs;
    if (last === undefined) return 0;
    // A signed 32-bit difference is right across the wrap at 2^32.
    const stepMs = (timestampMs - last) | 0;
    if (stepMs <= 0 || stepMs > maxStepMs) return 0;
    const usual = this.#usualStepMs;
    if (usual === undefined || stepMs <= 1.5 * usual + roundingMs) {
      this.#usualStepMs = usual === undefined ? stepMs : usual + (stepMs - usual) / 8;
      this.#longSteps = 0;
      return 0;
    }
    this.#longSteps += 1;
    if (this.#longSteps >= minStepsOfNewRate) {
      this.#usualStepMs = stepMs;
      this.#longSteps = 0;
      return 0;
    }
    const missing = Math.round(stepMs / usual) - 1;
    this.#missingFrames += missing;
    return missing;
  }

  dropped(count: number): void {
    this.#droppedFrames += count;
  }

  /** Distance between the last two keyframes, or from the last one to the newest frame if that is more. */
  get keyframeDistanceSeconds(): number | undefined {
    if (this.#lastKeyframeAtMs === undefined) return undefined;
    return Math.max(this.#keyframeIntervalMs ?? 0, this.#lastFrameAtMs - this.#lastKeyframeAtMs) / 1000;
  }

  /** Averages complete seconds without the last `skip`; undefined below `minSeconds`. @param nowMs monotonic */
  meanOf(nowMs: number, skip: number, seconds: number, minSeconds = seconds): MeanRate | undefined {
    this.#advance(nowMs);
    const count = Math.min(seconds, this.#knownSeconds - skip, secondCount - skip);
    if (count < minSeconds) return undefined;
    let bytes = 0;
    let frames = 0;
    for (let back = skip + 1; back <= skip + count; back += 1) {
      const second = (this.#nextSecond - back + secondCount * 2) % secondCount;
      bytes += this.#secondBytes[second]!;
      frames += this.#secondFrames[second]!;
    }
    return { bitsPerSecond: (bytes * 8) / count, framesPerSecond: frames / count };
  }

  /** Rates of this connection in windows of complete seconds, newest first. @param nowMs monotonic */
  rates(nowMs: number, windowSeconds: number): MeanRate[] {
    const rates: MeanRate[] = [];
    for (let skip = 0; skip < secondCount; skip += windowSeconds) {
      const rate = this.meanOf(nowMs, skip, windowSeconds);
      if (rate === undefined) break;
      rates.push(rate);
    }
    return rates;
  }

  stats(nowMs: number): MeterStats {
    this.#advance(nowMs);
    // The first second of a connection counts as complete: encoders begin with a burst.
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
      longestKeyframeIntervalSeconds: secondsOf(this.#maxKeyframeIntervalMs),
    };
  }

  #keyframeAt(atMs: number): void {
    if (this.#lastKeyframeAtMs !== undefined) {
      this.#keyframeIntervalMs = atMs - this.#lastKeyframeAtMs;
      this.#maxKeyframeIntervalMs = Math.max(this.#maxKeyframeIntervalMs ?? 0, this.#keyframeIntervalMs);
    }
    this.#lastKeyframeAtMs = atMs;
  }

  #advance(nowMs: number): void {
    const slot = Math.floor(nowMs / slotMs);
    if (slot - this.#newestSlot > maxSlots) this.#newestSlot = slot - maxSlots;
    while (this.#newestSlot < slot) {
      this.#newestSlot += 1;
      if (this.#newestSlot % slotsPerSecond === 0) this.#completeSecond();
      this.#bytes[this.#newestSlot % slotCount] = 0;
      this.#frames[this.#newestSlot % slotCount] = 0;
    }
  }

  #completeSecond(): void {
    const { bytes, frames } = this.#lastSlots(slotsPerSecond);
    this.#secondBytes[this.#nextSecond] = bytes;
    this.#secondFrames[this.#nextSecond] = frames;
    this.#nextSecond = (this.#nextSecond + 1) % secondCount;
    this.#knownSeconds = Math.min(this.#knownSeconds + 1, secondCount);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
  }

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

function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms) / 1000;
}
