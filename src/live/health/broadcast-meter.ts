import type { TrackKind } from '../../media/samples/media-sample.ts';
import { KeyframeIntervals } from './keyframe-intervals.ts';
import { MissingFrames } from './missing-frames.ts';

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

/** Measures a publisher's media. Allocates nothing per frame. */
export class BroadcastMeter {
  readonly #bytes = new Float64Array(slotCount);
  readonly #frames = new Uint32Array(slotCount);
  readonly #secondBytes = new Float64Array(secondCount);
  readonly #secondFrames = new Uint32Array(secondCount);
  readonly #missing = new MissingFrames();
  readonly #keyframes = new KeyframeIntervals();
  #nextSecond = 0;
  #knownSeconds = 0;
  #totalBytes = 0;
  #totalFrames = 0;
  #peakBytes = 0;
  /** Newest slot, counted since the clock's start. */
  #newestSlot = 0;
  #firstSlot = 0;
  #droppedFrames = 0;

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
    this.#missing.restart();
    this.#keyframes.restart();
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
    this.#keyframes.frame(atMs, isKeyframe);
    return this.#missing.arrived(timestampMs);
  }

  dropped(): void {
    this.#droppedFrames += 1;
  }

  /** Distance between the last two keyframes, or from the last one to the newest frame if that is more. */
  get keyframeDistanceSeconds(): number | undefined {
    const { distanceMs } = this.#keyframes;
    return distanceMs === undefined ? undefined : distanceMs / 1000;
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
      missingFrames: this.#missing.total,
      keyframeIntervalSeconds: secondsOf(this.#keyframes.newestMs),
      longestKeyframeIntervalSeconds: secondsOf(this.#keyframes.maxMs),
    };
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
