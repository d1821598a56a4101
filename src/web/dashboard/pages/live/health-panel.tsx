import type { StreamState } from '../../broadcasts/stream-state.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { LazyChart } from '../../ui/lazy-chart.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { Empty, Skeleton } from '../../ui/states.tsx';
import { overShownTime } from './health-samples.ts';
import type { RunningBroadcast } from './use-broadcast.ts';

const chartHeight = 170;
const sync = 'ingest-health';
const unknown = 'not known yet';

/** How what the encoder sends comes in: the last five minutes as lines, and the numbers of the whole broadcast. */
export function HealthPanel({
  state,
  broadcast: { stats, samples, alarms },
}: {
  state: StreamState;
  broadcast: RunningBroadcast;
}) {
  if (stats === undefined && samples.length === 0) {
    // Numbers come each second.
    if (state !== 'off') return <Skeleton height={2 * chartHeight} />;
    return (
      <Card>
        <Empty icon="chart" title="Nothing is on air">
          While it is, this shows how steadily your encoder sends. Broadcasts that are over are in Recordings.
        </Empty>
      </Card>
    );
  }
  const shown = overShownTime(samples);
  const times = shown.map(({ time }) => time);
  const seconds = (value: number | undefined) =>
    value === undefined ? unknown : `${formatNumber(value, 1)} s`;
  return (
    <div class="stack">
      <div class="columns health-charts">
        <Card title="Bitrate">
          <LazyChart
            label="Bitrate of the last five minutes"
            times={times}
            series={[{ name: 'Bitrate', values: shown.map(one => one.bitrateBitsPerSecond) }]}
            format={formatBitrate}
            height={chartHeight}
            sync={sync}
            atLeast={100_000}
            isArea
          />
        </Card>
        <Card title="Frame rate">
          <LazyChart
            label="Frame rate of the last five minutes"
            times={times}
            series={[{ name: 'Frames a second', color: 2, values: shown.map(one => one.framesPerSecond) }]}
            format={value => formatNumber(value)}
            height={chartHeight}
            sync={sync}
            atLeast={30}
            isArea
          />
        </Card>
        <Card title="Sound against picture">
          <LazyChart
            label="How far sound was ahead of the picture in the last five minutes"
            times={times}
            series={[{ name: 'Sound ahead', color: 3, values: shown.map(one => one.audioDriftMilliseconds) }]}
            format={value => `${formatNumber(value)} ms`}
            height={chartHeight}
            sync={sync}
            atLeast={100}
          />
        </Card>
        <Card title="This broadcast">
          {stats === undefined ? (
            <p>It has ended.</p>
          ) : (
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
                ['Encoder', stats.encoder || 'does not say'],
                ['Protocol', (stats.protocol ?? '').toUpperCase()],
              ]}
            />
          )}
        </Card>
      </div>
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
