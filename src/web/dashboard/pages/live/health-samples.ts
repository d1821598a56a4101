import type { BroadcastStats } from '../../broadcasts/broadcast-stats.ts';

/** How a broadcast did at a moment; null where nothing is known, so that a line breaks there. */
export interface HealthSample {
  /** Seconds since 1970. */
  readonly time: number;
  readonly bitrateBitsPerSecond: number | null;
  readonly framesPerSecond: number | null;
  readonly audioDriftMilliseconds: number | null;
}

/** For how long samples are kept and shown. */
export const shownSeconds = 300;
/** One comes each second; after a longer silence the line breaks. */
const longestStepSeconds = 3.5;

/** Samples with one more, without those that are too old to be shown. @param time seconds since 1970 */
export function withSample(
  samples: readonly HealthSample[],
  stats: BroadcastStats,
  time: number,
): HealthSample[] {
  const last = samples.at(-1);
  // A clock that was set back would tangle the lines.
  const kept =
    last !== undefined && last.time >= time ? [] : samples.filter(one => one.time > time - shownSeconds);
  const breaks = last !== undefined && kept.length > 0 && time - last.time > longestStepSeconds;
  const isLive = stats.state === 'live';
  return [
    ...kept,
    ...(breaks ? [unknownAt(last.time + 1)] : []),
    {
      time,
      bitrateBitsPerSecond: isLive ? stats.bitrateBitsPerSecond : null,
      framesPerSecond: isLive ? stats.framesPerSecond : null,
      audioDriftMilliseconds: isLive ? (stats.audioDriftMilliseconds ?? null) : null,
    },
  ];
}

/** Samples over the whole time that is shown: those before the first are unknown. */
export function overShownTime(samples: readonly HealthSample[]): readonly HealthSample[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.time - first.time > shownSeconds - 2) return samples;
  return [unknownAt(last.time - shownSeconds), ...samples];
}

function unknownAt(time: number): HealthSample {
  return { time, bitrateBitsPerSecond: null, framesPerSecond: null, audioDriftMilliseconds: null };
}
