import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import type { RunningBroadcast } from '../../../broadcasts/use-broadcast.ts';
import { formatBitrate, formatNumber, formatPercent } from '../../../format/size.ts';
import { formatRelative, formatSpan } from '../../../format/time.ts';
import { withUnit } from '../../../format/with-unit.ts';
import { rich, t } from '../../../texts/live.ts';
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

const periods = [5, 60, 720] as const;
type Minutes = (typeof periods)[number];

interface HealthPlot extends Pick<ChartProps, 'format' | 'steps' | 'minScaleMax' | 'isArea'> {
  readonly title: string;
  readonly series: string;
  readonly color: number;
  readonly read: (sample: HealthSample) => number | null;
}

function plots(): readonly HealthPlot[] {
  return [
    {
      title: t('live.bitrate'),
      series: t('live.bitrate'),
      color: 1,
      read: one => one.bitrateBitsPerSecond,
      format: formatBitrate,
      minScaleMax: 100_000,
      isArea: true,
    },
    {
      title: t('status.frameRate'),
      series: t('status.frameRate'),
      color: 2,
      read: one => one.framesPerSecond,
      format: value => withUnit(formatNumber(value), 'fps'),
      steps: wholeSteps,
      minScaleMax: 30,
      isArea: true,
    },
    {
      title: t('streams.viewers'),
      series: t('streams.viewers'),
      color: 4,
      read: one => one.viewers,
      format: formatNumber,
      steps: wholeSteps,
      minScaleMax: 4,
      isArea: true,
    },
    {
      title: t('health.sync'),
      series: t('health.audioAhead'),
      color: 3,
      read: one => one.audioDriftMilliseconds,
      format: value => withUnit(formatNumber(value), 'ms'),
      steps: wholeSteps,
      minScaleMax: 100,
    },
  ];
}

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
        <EmptyState icon="chart" title={t('health.notLive')}>
          {t('health.notLiveText')}
        </EmptyState>
      </Card>
    );
  }
  return (
    <div class="stack">
      <div class="health-head">
        <SegmentedControl
          label={t('health.period')}
          hideLabel
          value={minutes}
          options={periods.map(one => [one, t(`health.period.${one}`)] as const)}
          onValue={setMinutes}
        />
        <p class="hint">
          {state === 'off' && endedAt !== undefined && (
            <>
              {rich(
                'health.lastEnded',
                { time: formatRelative(endedAt) },
                { t: () => <RelativeTime time={endedAt} /> },
              )}{' '}
            </>
          )}
          {t('health.averaged')}
        </p>
      </div>
      <div class="columns health-charts">
        <HealthCharts samples={samples} seconds={minutes * 60} period={t(`health.period.${minutes}`)} />
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
      {plots().map(({ title, series, color, read, ...plot }) => (
        <Card key={title} title={title}>
          <LazyChart
            label={t('health.chart', { title, period })}
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
    value === undefined ? t('health.unknown') : withUnit(formatNumber(value, 1), 's');
  if (stats === undefined) return null;
  return (
    <div class="health-facts stack">
      <Card title={t('health.thisBroadcast')}>
        <Figures
          figures={[
            [t('health.alarms'), alarms.length === 0 ? t('health.none') : formatNumber(alarms.length)],
            [t('setup.keyframeInterval'), seconds(stats.keyframeIntervalSeconds)],
            [t('health.longestInterval'), seconds(stats.longestKeyframeIntervalSeconds)],
            [t('status.averageBitrate'), bitrate(stats.averageBitrateBitsPerSecond)],
            [t('health.peakBitrate'), bitrate(stats.peakBitrateBitsPerSecond)],
            [t('restreams.droppedFrames'), formatNumber(stats.droppedFrames)],
            [t('health.missingFrames'), formatNumber(stats.missingFrames)],
            [t('past.connectionLost'), formatLosses(stats.droppedConnections, stats.awaySeconds)],
            [t('health.encoder'), stats.encoder || t('health.notAnnounced')],
            [t('health.protocol'), formatProtocol(stats.protocol)],
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
      t('health.roundTrip'),
      roundTripMilliseconds === undefined
        ? t('health.unknown')
        : withUnit(formatNumber(roundTripMilliseconds), 'ms'),
    ],
    [
      t('health.packetLoss'),
      packetsLost === 0
        ? formatPercent(0)
        : t('health.lossText', {
            share: formatPercent(percent, 1),
            count: packetsLost - packetsRecovered,
          }),
    ],
  ];
}

function formatProtocol(protocol: string | undefined): string {
  if (protocol === undefined) return t('health.unknown');
  return protocol === 'pull' ? t('health.pulled') : protocol.toUpperCase();
}

function bitrate(value: number | undefined): string {
  return value === undefined ? t('health.unknown') : formatBitrate(value);
}

function formatLosses(losses: number | undefined, awaySeconds: number | undefined): string {
  if (losses === undefined || losses === 0) return t('health.never');
  return t('health.losses', { count: losses, time: formatSpan(awaySeconds ?? 0) });
}
