import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import type { RunningBroadcast } from '../../../broadcasts/use-broadcast.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { formatSpan } from '../../../format/time.ts';
import { wholeSteps } from '../../../ui/chart/chart-axes.ts';
import type { ChartProps } from '../../../ui/chart/chart-values.ts';
import { LazyChart } from '../../../ui/chart/lazy-chart.tsx';
import { Figures } from '../../../ui/figures.tsx';
import { SegmentedControl } from '../../../ui/form/segmented-control.tsx';
import { Card } from '../../../ui/page.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { EmptyState, Skeleton } from '../../../ui/states.tsx';
import { axisStart, type HealthSample } from './health-samples.ts';
import { IngestTracksCard } from './ingest-tracks-card.tsx';
import { useHealthHistory } from './use-health-history.ts';

const chartHeight = 170;
const sync = 'ingest-health';
const unknown = 'unknown';

const periods = [
  [5, '5 minutes'],
  [60, '1 hour'],
  [720, '12 hours'],
] as const;
type Minutes = (typeof periods)[number][0];

interface HealthPlot extends Pick<ChartProps, 'format' | 'steps' | 'minScaleMax' | 'isArea'> {
  readonly title: string;
  readonly series: string;
  readonly color: number;
  readonly read: (sample: HealthSample) => number | null;
}

const plots: readonly HealthPlot[] = [
  {
    title: 'Bitrate',
    series: 'Bitrate',
    color: 1,
    read: one => one.bitrateBitsPerSecond,
    format: formatBitrate,
    minScaleMax: 100_000,
    isArea: true,
  },
  {
    title: 'Frame rate',
    series: 'Frame rate',
    color: 2,
    read: one => one.framesPerSecond,
    format: value => `${formatNumber(value)} fps`,
    steps: wholeSteps,
    minScaleMax: 30,
    isArea: true,
  },
  {
    title: 'Viewers',
    series: 'Viewers',
    color: 4,
    read: one => one.viewers,
    format: formatNumber,
    steps: wholeSteps,
    minScaleMax: 4,
    isArea: true,
  },
  {
    title: 'Audio/video sync',
    series: 'Audio ahead',
    color: 3,
    read: one => one.audioDriftMilliseconds,
    format: value => `${formatNumber(value)} ms`,
    steps: wholeSteps,
    minScaleMax: 100,
  },
];

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
    if (state !== 'off' || isLoading) return <Skeleton height={2 * chartHeight} />;
    return (
      <Card>
        <EmptyState icon="chart" title="Not live">
          While you’re live, this shows the bitrate, frame rate and audio/video sync of your stream. Earlier
          broadcasts are under Recordings.
        </EmptyState>
      </Card>
    );
  }
  const [, period] = periods.find(([one]) => one === minutes)!;
  return (
    <div class="stack">
      <div class="health-head">
        <SegmentedControl label="Period" hideLabel value={minutes} options={periods} onValue={setMinutes} />
        <p class="hint">
          {state === 'off' && endedAt !== undefined && (
            <>
              Last broadcast, ended <RelativeTime time={endedAt} />.{' '}
            </>
          )}
          Rates are averaged over 4 seconds.
        </p>
      </div>
      <div class="columns health-charts">
        <HealthCharts samples={samples} seconds={minutes * 60} period={period} />
        {state !== 'off' && <BroadcastDetails broadcast={broadcast} />}
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
  period: string;
}) {
  const times = samples.map(({ time }) => time);
  const from = axisStart(samples, seconds);
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
            from={from}
            showsNewest
            {...plot}
          />
        </Card>
      ))}
    </>
  );
}

function BroadcastDetails({ broadcast: { stats, alarms } }: { broadcast: RunningBroadcast }) {
  const seconds = (value: number | undefined) =>
    value === undefined ? unknown : `${formatNumber(value, 1)} s`;
  if (stats === undefined) return null;
  return (
    <div class="health-facts stack">
      <Card title="This broadcast">
        <Figures
          figures={[
            ['Alarms', alarms.length === 0 ? 'None' : formatNumber(alarms.length)],
            ['Keyframe interval', seconds(stats.keyframeIntervalSeconds)],
            ['Longest interval', seconds(stats.longestKeyframeIntervalSeconds)],
            ['Average bitrate', bitrate(stats.averageBitrateBitsPerSecond)],
            ['Peak bitrate', bitrate(stats.peakBitrateBitsPerSecond)],
            ['Dropped frames', formatNumber(stats.droppedFrames)],
            ['Missing frames', formatNumber(stats.missingFrames)],
            ['Connection lost', formatLosses(stats.droppedConnections, stats.awaySeconds)],
            ['Encoder', stats.encoder || 'Not announced'],
            ['Protocol', formatProtocol(stats.protocol)],
            ...transportRows(stats.transport),
          ]}
        />
      </Card>
      {stats.tracks !== undefined && stats.tracks.length > 0 && <IngestTracksCard tracks={stats.tracks} />}
    </div>
  );
}

function transportRows(transport: BroadcastStats['transport']): [string, string][] {
  if (transport === undefined) return [];
  const { roundTripMilliseconds, packetsReceived, packetsLost, packetsRecovered } = transport;
  const sent = packetsReceived + packetsLost - packetsRecovered;
  const percent = sent === 0 ? 0 : (packetsLost / sent) * 100;
  return [
    [
      'Round trip',
      roundTripMilliseconds === undefined ? unknown : `${formatNumber(roundTripMilliseconds)} ms`,
    ],
    [
      'Packet loss',
      packetsLost === 0
        ? '0%'
        : `${formatNumber(percent, 1)}%, not recovered: ${formatNumber(packetsLost - packetsRecovered)}`,
    ],
  ];
}

function formatProtocol(protocol: string | undefined): string {
  if (protocol === undefined) return unknown;
  return protocol === 'pull' ? 'Pulled from the source' : protocol.toUpperCase();
}

function bitrate(value: number | undefined): string {
  return value === undefined ? unknown : formatBitrate(value);
}

function formatLosses(losses: number | undefined, awaySeconds: number | undefined): string {
  if (losses === undefined || losses === 0) return 'Never';
  const times = losses === 1 ? 'once' : `${formatNumber(losses)} times`;
  return `${times}, for ${formatSpan(awaySeconds ?? 0)}`;
}
