import { FrameRateSearch, intervalRoundingMs } from './frame-rate-search.ts';

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

/** Frames on the grid of a rate, until it is trusted. */
const minProvenFrames = 3;
const maxProvenFrames = 48;
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
  readonly #rounding: number;
  readonly #maxDeviation: number;
  readonly #search: FrameRateSearch;
  /** Frame in ticks, like the members below; fractional except starts. */
  #frame: number | undefined;
  #start = 0;
  /** End of the newest frame, when it is known already. */
  #end: number | undefined;
  #deviation = 0;
  #steadyCount = 0;
  #lastTarget: number | undefined;
  #framesToProve = minProvenFrames;

  constructor(options: SampleClockOptions) {
    const { timescale, frameSeconds, declaredFrameSeconds = [] } = options;
    this.#timescale = timescale;
    this.#hasFixedRate = frameSeconds !== undefined;
    this.#frame = frameSeconds && frameSeconds * timescale;
    const declaredFrames = declaredFrameSeconds.map(seconds => seconds * timescale);
    this.#search = new FrameRateSearch(timescale, declaredFrames);
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
    const frame = this.#frame ?? this.#search.frame ?? fallbackFrameSeconds * this.#timescale;
    return Math.max(this.#start + 1, this.endTicks ?? Math.round(this.#start + frame));
  }

  /** The next frame has arrived. @param atMs rising @param frameTicks where the codec fixes it for each frame */
  next(atMs: number, frameTicks?: number): void {
    if (this.#hasFixedRate && frameTicks !== undefined) this.#frame = frameTicks;
    const target = this.#ticks(atMs);
    if (this.#lastTarget === undefined) this.#begin(target);
    else if (this.#end !== undefined) this.#continue(target, this.#end);
    else this.#place(target, this.#lastTarget);
    this.#lastTarget = target;
  }

  /** Ticks from the newest frame's decode time to its presentation, which is on the same grid. */
  compositionOffset(offsetMs: number): number {
    const ticks = this.#ticks(offsetMs);
    const frame = this.#frame ?? this.#search.frame;
    if (frame === undefined) return Math.round(ticks);
    const gridTicks = Math.round(ticks / frame) * frame;
    return Math.round(Math.abs(gridTicks - ticks) <= this.#ticks(intervalRoundingMs) ? gridTicks : ticks);
  }

  #ticks(ms: number): number {
    return (ms * this.#timescale) / 1000;
  }

  #begin(target: number): void {
    this.#start = Math.round(target);
    this.#search.restart(target);
    if (this.#frame !== undefined) this.#end = target + this.#frame;
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
      this.#search.restart(target);
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

  /** Places a frame whose start the previous one did not determine. */
  #place(target: number, lastTarget: number): void {
    const minStart = this.#start + this.#ticks(1);
    if (this.#frame !== undefined) {
      this.#start = Math.round(Math.max(target, minStart));
      // Timestamps that hardly increase must not drive the track away from the others.
      if (this.#start - target <= this.#maxDeviation) this.#end = this.#start + this.#frame;
      return;
    }
    const start = this.#search.next(target, lastTarget) ?? target;
    this.#start = Math.round(Math.max(start, minStart));
    const { frame, count } = this.#search;
    if (frame === undefined || count < this.#framesToProve) return;
    this.#frame = frame;
    this.#end = Math.max(start, minStart) + frame;
    this.#steadyCount = 0;
  }
}
