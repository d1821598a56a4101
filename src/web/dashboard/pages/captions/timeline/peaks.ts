const peaksPerSecond = 50;

/** Peaks of a part of the audio, 0 to 1, of which {@link peaksPerSecond} make a second. */
export interface PeakPart {
  readonly startSeconds: number;
  readonly peaks: Float32Array;
}

/** Loudest sample of each slice, over all channels. */
export function findPeaks(channels: readonly Float32Array[], sampleRate: number): Float32Array {
  const samples = channels[0]?.length ?? 0;
  const perPeak = sampleRate / peaksPerSecond;
  const peaks = new Float32Array(Math.ceil(samples / perPeak));
  for (const channel of channels) {
    for (let index = 0; index < peaks.length; index += 1) {
      const end = Math.min(samples, Math.floor((index + 1) * perPeak));
      let peak = peaks[index]!;
      for (let at = Math.floor(index * perPeak); at < end; at += 1) {
        peak = Math.max(peak, Math.abs(channel[at]!));
      }
      peaks[index] = Math.min(1, peak);
    }
  }
  return peaks;
}

/** The peaks of a window in columns of equal width; undefined where they are not known yet. */
export function peakColumns(
  parts: readonly PeakPart[],
  fromSeconds: number,
  spanSeconds: number,
  count: number,
): (number | undefined)[] {
  const columns = new Array<number | undefined>(count).fill(undefined);
  for (const { startSeconds, peaks } of parts) {
    const first = Math.max(0, Math.floor((fromSeconds - startSeconds) * peaksPerSecond));
    for (let index = first; index < peaks.length; index += 1) {
      const seconds = startSeconds + index / peaksPerSecond;
      const column = Math.floor(((seconds - fromSeconds) / spanSeconds) * count);
      if (column >= count) break;
      if (column >= 0) columns[column] = Math.max(columns[column] ?? 0, peaks[index]!);
    }
  }
  // Columns narrower than a peak continue the one before.
  for (let index = 1; index < count; index += 1) {
    if (columns[index] === undefined && isKnown(parts, fromSeconds + (index / count) * spanSeconds))
      columns[index] = columns[index - 1];
  }
  return columns;
}

function isKnown(parts: readonly PeakPart[], seconds: number): boolean {
  return parts.some(
    ({ startSeconds, peaks }) =>
      seconds >= startSeconds && seconds < startSeconds + peaks.length / peaksPerSecond,
  );
}
