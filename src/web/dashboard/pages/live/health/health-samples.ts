import type { IngestHealthHistory } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';

/** Health of a broadcast at a moment, by the server's clock; null where nothing is known, so that a line breaks there. */
export interface HealthSample {
  /** Seconds since 1970. */
  readonly time: number;
  readonly bitrateBitsPerSecond: number | null;
  readonly framesPerSecond: number | null;
  readonly audioDriftMilliseconds: number | null;
  readonly viewers: number | null;
}

/** Samples of one broadcast from the feed. */
export interface FeedSamples {
  readonly broadcastId: string;
  readonly samples: readonly HealthSample[];
}

/** The shortest time that is shown, for which what the feed tells is kept. */
export const minShownSeconds = 300;
/** After so many steps without a sample the line breaks. */
const maxGapSteps = 3.5;

/** Adds a message of the feed to the samples, and drops those that are too old to be shown. */
export function withStats(heard: FeedSamples | undefined, stats: BroadcastStats, time: number): FeedSamples {
  const before = heard?.broadcastId === stats.broadcastId ? heard.samples : [];
  const isLive = stats.state === 'live';
  const sample: HealthSample = {
    time,
    bitrateBitsPerSecond: isLive ? stats.bitrateBitsPerSecond : null,
    framesPerSecond: isLive ? stats.framesPerSecond : null,
    audioDriftMilliseconds: isLive ? (stats.audioDriftMilliseconds ?? null) : null,
    viewers: stats.viewers,
  };
  // Two messages may come in one second, and a clock that was set back would tangle the lines.
  const kept = before.filter(one => one.time < time && one.time > time - minShownSeconds);
  return { broadcastId: stats.broadcastId, samples: [...kept, sample] };
}

/**
 * The samples of a history and what was heard since, in the order of their times, with a break wherever nothing is known for a while.
 *
 * @param heard of the same broadcast, one each second; for a history with longer steps, none
 * @param seconds how much of it is shown
 */
export function mergeSamples(
  history: IngestHealthHistory | undefined,
  heard: FeedSamples | undefined,
  seconds: number,
): HealthSample[] {
  const { data = [], stepSeconds = 1, broadcastId = heard?.broadcastId } = history ?? {};
  const newer = heard?.broadcastId === broadcastId && stepSeconds === 1 ? (heard?.samples ?? []) : [];
  const byTime = new Map<number, HealthSample>();
  for (const { measuredAt, ...values } of data) {
    const time = Date.parse(measuredAt) / 1000;
    byTime.set(time, {
      time,
      bitrateBitsPerSecond: values.bitrateBitsPerSecond ?? null,
      framesPerSecond: values.framesPerSecond ?? null,
      audioDriftMilliseconds: values.audioDriftMilliseconds ?? null,
      viewers: values.viewers ?? null,
    });
  }
  for (const sample of newer) byTime.set(sample.time, sample);
  const all = [...byTime.values()].sort((a, b) => a.time - b.time);
  const oldest = (all.at(-1)?.time ?? 0) - seconds;
  const samples = all.filter(({ time }) => time > oldest);
  return samples.flatMap((sample, index) => {
    const last = samples[index - 1];
    const breaks = last !== undefined && sample.time - last.time > maxGapSteps * stepSeconds;
    return breaks ? [unknownAt(last.time + stepSeconds), sample] : [sample];
  });
}

/** Returns the begin of the time axis: so many seconds before the end, or with the broadcast if that began later, and 5 minutes before at the latest. */
export function axisStart(samples: readonly HealthSample[], seconds: number): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return Math.max(last.time - seconds, Math.min(first.time, last.time - minShownSeconds));
}

function unknownAt(time: number): HealthSample {
  return {
    ...{ time, bitrateBitsPerSecond: null, framesPerSecond: null },
    ...{ audioDriftMilliseconds: null, viewers: null },
  };
}
