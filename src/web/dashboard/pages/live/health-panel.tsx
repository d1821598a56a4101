import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import type { StreamState } from '../../broadcasts/stream-state.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { wholeSteps } from '../../ui/chart-axes.ts';
import type { ChartProps } from '../../ui/chart-values.ts';
import { Choices } from '../../ui/choices.tsx';
import { LazyChart } from '../../ui/lazy-chart.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { axisBegin, type HealthSample } from './health-samples.ts';
import type { RunningBroadcast } from './use-broadcast.ts';
import { useHealthHistory } from './use-health-history.ts';

const chartHeight = 170;
const sync = 'ingest-health';
const unknown = 'not known yet';

const periods = [
  [5, '5 minutes'],
  [60, '1 hour'],
  [720, '12 hours'],
] as const;
type Minutes = (typeof periods)[number][0];

/** A plot of one value of the samples. */
interface HealthPlot extends Pick<ChartProps, 'format' | 'steps' | 'atLeast' | 'isArea'> {
  readonly title: string;
  readonly series: string;
  readonly color: number;
  readonly read: (sample: HealthSample) => number | null;
}

const plots: readonly HealthPlot[] = [
  {
    ...{ title: 'Bitrate', series: 'Bitrate', color: 1, read: one => one.bitrateBitsPerSecond },
    ...{ format: formatBitrate, atLeast: 100_000, isArea: true },
  },
  {
    ...{ title: 'Frame rate', series: 'Frame rate', color: 2, read: one => one.framesPerSecond },
    ...{ format: value => `${formatNumber(value)} fps`, steps: wholeSteps, atLeast: 30, isArea: true },
  },
  {
    ...{ title: 'Viewers', series: 'Viewers', color: 4, read: one => one.viewers },
    ...{ format: formatNumber, steps: wholeSteps, atLeast: 4, isArea: true },
  },
  {
    ...{
      title: 'Audio/video sync',
      series: 'Audio ahead',
      color: 3,
      read: one => one.audioDriftMilliseconds,
    },
    ...{ format: value => `${formatNumber(value)} ms`, steps: wholeSteps, atLeast: 100 },
  },
];

/** Shows how steadily the encoder sends: the last minutes as lines, and the numbers of the whole broadcast. */
export function HealthPanel({
  stream: { liveStreamId },
  state,
  broadcast,
}: {
  stream: LiveStream;
  state: StreamState;
  broadcast: RunningBroadcast;
}) {
  const [minutes, setMinutes] = useState<Minutes>(5);
  const { samples, endedAt, isLoading } = useHealthHistory(liveStreamId, minutes);
  if (samples.length === 0) {
    // Numbers come each second.
    if (state !== 'off' || isLoading) return <Skeleton height={2 * chartHeight} />;
    return (
      <Card>
        <Empty icon="chart" title="Not live">
          While you stream, this shows how steadily your encoder sends. Earlier broadcasts are in Recordings.
        </Empty>
      </Card>
    );
  }
  const [, period] = periods.find(([one]) => one === minutes)!;
  return (
    <div class="stack">
      <div class="health-head">
        <Choices label="Period" hideLabel value={minutes} options={periods} onValue={setMinutes} />
        <p class="hint">
          {state === 'off' && endedAt !== undefined && (
            <>
              The last broadcast, which ended <Moment time={endedAt} />.{' '}
            </>
          )}
          Rates are averaged over 4 seconds.
        </p>
      </div>
      <div class="columns health-charts">
        <HealthCharts samples={samples} seconds={minutes * 60} period={period} />
        {state !== 'off' && <BroadcastFacts broadcast={broadcast} />}
      </div>
    </div>
  );
}

function HealthCharts({
  samples,
  seconds,
  period,
}: {
  samples: readonly HealthSample[];
  seconds: number;
  /** The same in words. */
  period: string;
}) {
  const times = samples.map(({ time }) => time);
  const from = axisBegin(samples, seconds);
  return (
    <>
      {plots.map(({ title, series, color, read, ...plot }) => (
        <Card key={title} title={title}>
          <LazyChart
            label={`${title}, last ${period}`}
            times={times}
            series={[{ name: series, color, values: samples.map(read) }]}
            height={chartHeight}
            sync={sync}
            {...(from === undefined ? {} : { from })}
            tellsNewest
            {...plot}
          />
        </Card>
      ))}
    </>
  );
}

function BroadcastFacts({ broadcast: { stats, alarms } }: { broadcast: RunningBroadcast }) {
  const seconds = (value: number | undefined) =>
    value === undefined ? unknown : `${formatNumber(value, 1)} s`;
  if (stats === undefined) return null;
  return (
    <div class="health-facts">
      <Card title="This broadcast">
        <Facts
          rows={[
            ['Alarms', alarms.length === 0 ? 'None' : formatNumber(alarms.length)],
            [
              'Keyframes',
              `every ${seconds(stats.keyframeIntervalSeconds)}, at most ${seconds(stats.longestKeyframeIntervalSeconds)}`,
            ],
            ['Bitrate, average', bitrate(stats.averageBitrateBitsPerSecond)],
            ['Bitrate, highest', bitrate(stats.peakBitrateBitsPerSecond)],
            ['Dropped frames', formatNumber(stats.droppedFrames)],
            ['Missing frames', `${formatNumber(stats.missingFrames)}, by the encoder’s clock`],
            ['Connection lost', lossWords(stats.droppedConnections, stats.awaySeconds)],
            ['Encoder', stats.encoder || 'unknown'],
            ['Protocol', (stats.protocol ?? '').toUpperCase()],
          ]}
        />
      </Card>
    </div>
  );
}

function bitrate(value: number | undefined): string {
  return value === undefined ? unknown : formatBitrate(value);
}

function lossWords(losses: number | undefined, awaySeconds: number | undefined): string {
  if (losses === undefined || losses === 0) return 'Never';
  const times = losses === 1 ? 'once' : `${formatNumber(losses)} times`;
  return `${times}, away for ${formatSpan(awaySeconds ?? 0)}`;
}
