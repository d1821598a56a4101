import type { SampleColumns } from '../../media/cmaf/fragment-header.ts';

/** Maximum delay: frames that are shown for seconds delay the decode times of B-frames by as many seconds each. */
const MAX_DELAY_SECONDS = 1;
/** Below, the delay of a segment is kept. */
const MAX_DELAY_CHANGE_SECONDS = 0.02;

/**
 * Decode times of a video's segments. The file's own are kept as long as they run at a constant distance before the presentation.
 * With a variable frame rate and B-frames they do not: a gap in the presentation belongs to another frame of the decode order, often in
 * another segment. Players take sums of decode intervals for durations, so all segments are decoded at the distance of the first.
 */
export class DecodeTimes {
  readonly #timescale: number;
  #delayTicks: number | undefined;

  constructor(timescale: number) {
    this.#timescale = timescale;
  }

  /** Returns the decode time of the first sample of a segment. @param dtsTicks in the file @param startTicks its presentation */
  baseOf(dtsTicks: number, startTicks: number): number {
    const maxDelayTicks = MAX_DELAY_SECONDS * this.#timescale;
    this.#delayTicks ??= Math.min(Math.max(0, startTicks - dtsTicks), maxDelayTicks);
    const baseTicks = startTicks - this.#delayTicks;
    const isKept = Math.abs(dtsTicks - baseTicks) <= MAX_DELAY_CHANGE_SECONDS * this.#timescale;
    return isKept ? dtsTicks : baseTicks;
  }

  /**
   * Lets a segment last until the next one is decoded. @param dtsTicks decode time of its first sample in the file
   * @param nextStartTicks presentation of the next segment, or end of this one @param nextDtsTicks in the file; undefined at its end
   */
  fit(
    samples: SampleColumns,
    dtsTicks: number,
    startTicks: number,
    nextStartTicks: number,
    nextDtsTicks: number | undefined,
  ): void {
    const { durations } = samples.columns;
    const fileEndTicks = durations.reduce((sum, ticks) => sum + ticks, dtsTicks);
    const lastTicks = fileEndTicks - durations.at(-1)!;
    const baseTicks = this.baseOf(dtsTicks, startTicks);
    const endTicks = this.baseOf(nextDtsTicks ?? fileEndTicks, nextStartTicks);
    const isKept = baseTicks === dtsTicks && endTicks === (nextDtsTicks ?? fileEndTicks);
    if (isKept && lastTicks < endTicks) durations[durations.length - 1] = endTicks - lastTicks;
    else respace(samples, dtsTicks, baseTicks, endTicks);
  }
}

/** Presentation of each sample of a segment. @param dtsTicks of the first one */
export function shownTicks(samples: SampleColumns, dtsTicks: number): Float64Array {
  const { durations, offsets } = samples.columns;
  const shown = new Float64Array(durations.length);
  let decodedTicks = dtsTicks;
  for (let index = 0; index < shown.length; index++) {
    shown[index] = decodedTicks + offsets[index]!;
    decodedTicks += durations[index]!;
  }
  return shown;
}

/** Decodes each sample as long before it or a later one is shown as the first sample. */
function respace(samples: SampleColumns, dtsTicks: number, baseTicks: number, endTicks: number): void {
  const { durations, offsets } = samples.columns;
  const count = durations.length;
  const shown = shownTicks(samples, dtsTicks);
  const needed = shown.slice();
  for (let index = count - 2; index >= 0; index--) {
    needed[index] = Math.min(needed[index]!, needed[index + 1]!);
  }
  const delayTicks = shown[0]! - baseTicks;
  const decoded = new Float64Array(count + 1);
  decoded[0] = baseTicks;
  decoded[count] = endTicks;
  for (let from = 1; from < count; ) {
    // Samples that are needed at the same time share the time since the one before.
    let to = from + 1;
    while (to < count && needed[to] === needed[from]) to += 1;
    const before = decoded[from - 1]!;
    const until = Math.min(needed[from]! - delayTicks, endTicks - (count + 1 - to));
    const step = Math.max(1, (until - before) / (to - from));
    for (let index = from; index < to; index++) {
      decoded[index] = Math.round(before + step * (index - from + 1));
    }
    from = to;
  }
  for (let index = 0; index < count; index++) {
    durations[index] = Math.max(0, decoded[index + 1]! - decoded[index]!);
    offsets[index] = shown[index]! - decoded[index]!;
  }
}
