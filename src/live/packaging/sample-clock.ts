interface SampleClockOptions {
  /** Ticks per second of the decode times. */
  readonly timescale: number;
  /** Fixed by the codec. Otherwise frames have to prove a constant rate. */
  readonly frameSeconds?: number;
  /** Durations that the encoder declares, most trusted first. */
  readonly declaredFrameSeconds?: readonly number[];
  /** Rounded timestamps deviate less from the grid, and are not followed. */
  readonly roundingMs: number;
  /** Further from the grid, a timestamp is a gap or a change of rate. */
  readonly maxDeviationMs: number;
}

/** RTMP rounds both ends of an interval to milliseconds. */
const intervalRoundingMs = 1.05;
const minProvenFrames = 3;
const maxProvenFrames = 48;
const minMeasuredFrames = 8;
/** A rate that held for this long is trusted again after a few frames. */
const steadyFrames = 300;
/** Share of a deviation that each frame corrects, after averaging it over as many frames. */
const smoothing = 1 / 16;
/** Maximum correction as a share of a frame's duration. */
const maxCorrection = 1 / 50;
const fallbackFrameSeconds = 1 / 25;

/**
 * Puts the timestamps of one track, whole milliseconds, on the exact grid of its frame rate: each decode time is the
 * previous one plus its duration. At a constant rate a frame's end is known when it arrives. Otherwise the next frame
 * decides.
 */
export class SampleClock {
  readonly #timescale: number;
  readonly #hasFixedRate: boolean;
  readonly #declared: readonly number[];
  readonly #rounding: number;
  readonly #maxDeviation: number;
  /** Frame in ticks, like the members below; fractional except starts. */
  #frame: number | undefined;
  #start = 0;
  /** End of the newest frame, when it is known already. */
  #end: number | undefined;
  #deviation = 0;
  #steadyCount = 0;
  #lastTarget: number | undefined;
  /**
   * Start of the grid that newer frames have been on, and of the frames whose intervals were alike, while the rate
   * is unknown.
   */
  #gridStart = 0;
  #gridFrame: number | undefined;
  #gridCount = 0;
  #runStart = 0;
  #runCount = 0;
  #shortest = 0;
  #longest = 0;
  #framesToProve = minProvenFrames;

  constructor(options: SampleClockOptions) {
    const { timescale, frameSeconds, declaredFrameSeconds = [] } = options;
    this.#timescale = timescale;
    this.#hasFixedRate = frameSeconds !== undefined;
    this.#frame = frameSeconds && frameSeconds * timescale;
    this.#declared = declaredFrameSeconds.map(seconds => seconds * timescale);
    this.#rounding = this.#ticks(options.roundingMs);
    this.#maxDeviation = this.#ticks(options.maxDeviationMs);
  }

  /** Decode time of the newest frame. */
  get startTicks(): number {
    return this.#start;
  }

  /** Undefined until the next frame arrives. */
  get endTicks(): number | undefined {
    return this.#end === undefined ? undefined : Math.round(this.#end);
  }

  /** End of the newest frame when none follows. */
  get lastEndTicks(): number {
    const frame = this.#frame ?? this.#gridFrame ?? fallbackFrameSeconds * this.#timescale;
    return Math.max(this.#start + 1, this.endTicks ?? Math.round(this.#start + frame));
  }

  /** The next frame has arrived. @param atMs rising @param frameTicks where the codec fixes it for each frame */
  next(atMs: number, frameTicks?: number): void {
    if (this.#hasFixedRate && frameTicks !== undefined) this.#frame = frameTicks;
    const target = this.#ticks(atMs);
    if (this.#lastTarget === undefined) this.#begin(target);
    else if (this.#end !== undefined) this.#continue(target, this.#end);
    else this.#search(target, this.#lastTarget);
    this.#lastTarget = target;
  }

  /** Ticks from the newest frame's decode time to its presentation, which is on the same grid. */
  compositionOffset(offsetMs: number): number {
    const ticks = this.#ticks(offsetMs);
    const frame = this.#frame ?? this.#gridFrame;
    if (frame === undefined) return Math.round(ticks);
    const gridTicks = Math.round(ticks / frame) * frame;
    return Math.round(Math.abs(gridTicks - ticks) <= this.#ticks(intervalRoundingMs) ? gridTicks : ticks);
  }

  #ticks(ms: number): number {
    return (ms * this.#timescale) / 1000;
  }

  #begin(target: number): void {
    this.#start = Math.round(target);
    this.#restartSearch(target);
    if (this.#frame !== undefined) this.#end = target + this.#frame;
  }

  #restartSearch(target: number): void {
    this.#gridStart = target;
    this.#gridFrame = undefined;
    this.#gridCount = 0;
    this.#runStart = target;
    this.#runCount = 0;
  }

  #continue(target: number, end: number): void {
    const frame = this.#frame!;
    this.#start = Math.round(end);
    const deviation = target - end;
    if (Math.abs(deviation) > Math.min(this.#maxDeviation, this.#hasFixedRate ? Infinity : frame / 4)) {
      // Forgets the end: this frame lasts until the next one, which is placed by its own timestamp again.
      this.#end = undefined;
      this.#deviation = 0;
      if (this.#hasFixedRate) return;
      this.#frame = undefined;
      this.#restartSearch(target);
      this.#framesToProve =
        this.#steadyCount < steadyFrames
          ? Math.min(2 * this.#framesToProve, maxProvenFrames)
          : minProvenFrames;
      this.#steadyCount = 0;
      return;
    }
    this.#steadyCount += 1;
    this.#deviation += (deviation - this.#deviation) * smoothing;
    this.#end = end + frame + this.#correction(frame);
  }

  #correction(frame: number): number {
    const excess = Math.abs(this.#deviation) - this.#rounding;
    if (excess <= 0) return 0;
    return Math.sign(this.#deviation) * Math.min(excess * smoothing, frame * maxCorrection);
  }

  #search(target: number, lastTarget: number): void {
    const minStart = this.#start + this.#ticks(1);
    if (this.#frame !== undefined) {
      this.#start = Math.round(Math.max(target, minStart));
      // Timestamps that hardly increase must not drive the track away from the others.
      if (this.#start - target <= this.#maxDeviation) this.#end = this.#start + this.#frame;
      return;
    }
    const start = this.#gridTime(target, lastTarget) ?? target;
    this.#start = Math.round(Math.max(start, minStart));
    if (this.#gridFrame === undefined || this.#gridCount < this.#framesToProve) return;
    this.#frame = this.#gridFrame;
    this.#end = Math.max(start, minStart) + this.#frame;
    this.#steadyCount = 0;
  }

  /** Undefined off the grid, which then starts anew. */
  #gridTime(target: number, lastTarget: number): number | undefined {
    const interval = target - lastTarget;
    this.#measure(interval, lastTarget);
    const rounding = this.#ticks(intervalRoundingMs);
    if (this.#gridFrame !== undefined) {
      const time = this.#gridStart + (this.#gridCount + 1) * this.#gridFrame;
      if (Math.abs(target - time) <= rounding) {
        this.#gridCount += 1;
        return time;
      }
    }
    const frame = this.#likelyFrame(target, interval);
    const isOnGrid = frame !== undefined && Math.abs(interval - frame) <= rounding;
    this.#gridFrame = isOnGrid ? frame : undefined;
    this.#gridStart = lastTarget;
    this.#gridCount = 1;
    return isOnGrid ? lastTarget + frame : undefined;
  }

  /** Extends the run of intervals that differ by rounding only. */
  #measure(interval: number, lastTarget: number): void {
    const isFirst = this.#runCount === 0;
    this.#shortest = isFirst ? interval : Math.min(this.#shortest, interval);
    this.#longest = isFirst ? interval : Math.max(this.#longest, interval);
    this.#runCount += 1;
    if (this.#longest - this.#shortest <= this.#ticks(intervalRoundingMs)) return;
    this.#runStart = lastTarget;
    this.#runCount = 1;
    this.#shortest = interval;
    this.#longest = interval;
  }

  #likelyFrame(target: number, interval: number): number | undefined {
    const rounding = this.#ticks(intervalRoundingMs);
    const isMeasured = this.#runCount >= minMeasuredFrames;
    const mean = (target - this.#runStart) / this.#runCount;
    const tolerance = this.#ticks(1) / this.#runCount;
    const declared = this.#declared.find(frame =>
      isMeasured ? Math.abs(frame - mean) <= tolerance : Math.abs(frame - interval) <= rounding,
    );
    if (declared !== undefined || !isMeasured) return declared;
    const rate = Math.round(this.#timescale / mean);
    const usual = [this.#timescale / rate, (this.#timescale * 1001) / (rate * 1000)];
    return usual.find(frame => Math.abs(frame - mean) <= tolerance) ?? mean;
  }
}
