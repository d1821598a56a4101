import type { IngestHealthHistory } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';

/** null breaks the line of the chart. */
export interface HealthSample {
  readonly time: number;
  readonly bitrateBitsPerSecond: number | null;
  readonly framesPerSecond: number | null;
  readonly audioDriftMilliseconds: number | null;
  readonly viewers: number | null;
}

export interface FeedSamples {
  readonly broadcastId: string;
  readonly samples: readonly HealthSample[];
}

export const minShownSeconds = 300;
const maxGapSteps = 3.5;

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
  // A clock that was set back would tangle the lines.
  const kept = before.filter(one => one.time < time && one.time > time - minShownSeconds);
  return { broadcastId: stats.broadcastId, samples: [...kept, sample] };
}

/** Joins history and feed, with a break wherever samples are missing. `heard` has one sample per second. */
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

/** Starts the axis `seconds` before the end or with the broadcast, but at least 5 minutes before the end. */
export function axisStart(samples: readonly HealthSample[], seconds: number): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return Math.max(last.time - seconds, Math.min(first.time, last.time - minShownSeconds));
}

function unknownAt(time: number): HealthSample {
  return {
    time,
    bitrateBitsPerSecond: null,
    framesPerSecond: null,
    audioDriftMilliseconds: null,
    viewers: null,
  };
}
