/** RTMP rounds both ends of an interval to milliseconds. */
export const intervalRoundingMs = 1.05;
const minMeasuredFrames = 8;

/** Finds the frame rate of timestamps in whole milliseconds. All times are in ticks. */
export class FrameRateSearch {
  readonly #timescale: number;
  readonly #declared: readonly number[];
  readonly #rounding: number;
  /** Start of the grid that the newest frames are on. */
  #gridStart = 0;
  #gridFrame: number | undefined;
  #gridCount = 0;
  /** Start of the newest frames whose intervals differ by rounding only. */
  #runStart = 0;
  #runCount = 0;
  #shortest = 0;
  #longest = 0;

  /** @param declared durations of a frame, most trusted first */
  constructor(timescale: number, declared: readonly number[]) {
    this.#timescale = timescale;
    this.#declared = declared;
    this.#rounding = (intervalRoundingMs * timescale) / 1000;
  }

  /** Duration of a frame; undefined while the newest ones are on no grid. */
  get frame(): number | undefined {
    return this.#gridFrame;
  }

  /** Number of frames that the grid was right for. */
  get count(): number {
    return this.#gridCount;
  }

  restart(target: number): void {
    this.#gridStart = target;
    this.#gridFrame = undefined;
    this.#gridCount = 0;
    this.#runStart = target;
    this.#runCount = 0;
  }

  /** Returns the time of a frame on the grid. Undefined off the grid, which then starts anew. */
  next(target: number, lastTarget: number): number | undefined {
    const interval = target - lastTarget;
    this.#measure(interval, lastTarget);
    if (this.#gridFrame !== undefined) {
      const time = this.#gridStart + (this.#gridCount + 1) * this.#gridFrame;
      if (Math.abs(target - time) <= this.#rounding) {
        this.#gridCount += 1;
        return time;
      }
    }
    const frame = this.#likelyFrame(target, interval);
    const isOnGrid = frame !== undefined && Math.abs(interval - frame) <= this.#rounding;
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
    if (this.#longest - this.#shortest <= this.#rounding) return;
    this.#runStart = lastTarget;
    this.#runCount = 1;
    this.#shortest = interval;
    this.#longest = interval;
  }

  #likelyFrame(target: number, interval: number): number | undefined {
    const isMeasured = this.#runCount >= minMeasuredFrames;
    const mean = (target - this.#runStart) / this.#runCount;
    const tolerance = this.#timescale / 1000 / this.#runCount;
    const declared = this.#declared.find(frame =>
      isMeasured ? Math.abs(frame - mean) <= tolerance : Math.abs(frame - interval) <= this.#rounding,
    );
    if (declared !== undefined || !isMeasured) return declared;
    const rate = Math.round(this.#timescale / mean);
    const usual = [this.#timescale / rate, (this.#timescale * 1001) / (rate * 1000)];
    return usual.find(frame => Math.abs(frame - mean) <= tolerance) ?? mean;
  }
}
