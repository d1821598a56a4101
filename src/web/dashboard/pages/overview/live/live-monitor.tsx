import { useMemo, useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import { broadcastVerdict } from '../../../broadcasts/broadcast-verdict.ts';
import { StreamBadge } from '../../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../../broadcasts/stream-state.ts';
import { useBroadcast } from '../../../broadcasts/use-broadcast.ts';
import type { LiveNowItem } from '../../../broadcasts/use-live-now.ts';
import { VerdictLine } from '../../../broadcasts/verdict-line.tsx';
import { localUrl, versionedUrl } from '../../../format/local-url.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { withUnit } from '../../../format/with-unit.ts';
import { t } from '../../../texts/overview.ts';
import { Sparkline } from '../../../ui/chart/sparkline.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { PlayerIframe } from '../../../ui/player-iframe.tsx';
import { useHealthHistory } from '../../live/health/use-health-history.ts';
import { LiveActions } from './live-actions.tsx';
import { LiveTime } from './live-time.tsx';

const shownMinutes = 5;
const noTurn = () => {};

/** A live stream with its picture, the last minutes, and what to do. */
export function LiveMonitor({ item: { stream, stats: heard }, round }: { item: LiveNowItem; round: number }) {
  const broadcast = useBroadcast(stream.liveStreamId, noTurn);
  const { samples } = useHealthHistory(stream.liveStreamId, shownMinutes);
  const stats = broadcast.stats ?? heard;
  const state = streamStateOf(true, { state: broadcast.state ?? heard?.state });
  const verdict = broadcastVerdict({
    state,
    stats,
    alarms: broadcast.alarms,
    isPulled: stream.source?.enabled,
  });
  return (
    <div class="live-monitor">
      <Preview stream={stream} round={round} />
      <div class="live-side">
        <div class="live-title">
          <StreamBadge state={state} />
          <a href={`/dashboard/live/${stream.liveStreamId}`}>{stream.name}</a>
          {stats !== undefined && (
            <span class="quiet number">
              <LiveTime seconds={stats.durationSeconds} />
            </span>
          )}
        </div>
        <VerdictLine verdict={verdict} />
        {stats !== undefined && <p class="hint number">{framesText(stats)}</p>}
        {broadcast.alarms.map(({ alarm, message }) => (
          <p key={alarm} class="hint">
            {message}
          </p>
        ))}
        <dl class="live-lines">
          <Line
            name={t('live.bitrate')}
            label={t('live.bitrateLabel', { minutes: shownMinutes })}
            value={stats === undefined ? '–' : formatBitrate(stats.bitrateBitsPerSecond)}
            values={samples.map(one => one.bitrateBitsPerSecond)}
            format={formatBitrate}
            color={1}
            minScaleMax={100_000}
          />
          <Line
            name={t('live.viewersName')}
            label={t('live.viewersLabel', { minutes: shownMinutes })}
            value={stats === undefined ? '–' : formatNumber(stats.viewers)}
            values={samples.map(one => one.viewers)}
            format={formatNumber}
            color={4}
            minScaleMax={4}
          />
        </dl>
        <LiveActions stream={stream} />
      </div>
    </div>
  );
}

function Line({
  name,
  label,
  value,
  values,
  format,
  color,
  minScaleMax,
}: {
  name: string;
  label: string;
  value: string;
  values: readonly (number | null)[];
  format: (value: number) => string;
  color: number;
  minScaleMax: number;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{value}</dd>
      <dd>
        <Sparkline label={label} values={values} format={format} color={color} minScaleMax={minScaleMax} />
      </dd>
    </div>
  );
}

/** The newest picture, so that looking at the overview counts as no viewer; the player on a click. */
function Preview({ stream: { liveStreamId, name, assets }, round }: { stream: LiveStream; round: number }) {
  const [isPlaying, setPlaying] = useState(false);
  // Each answer about a private stream has a new URL. Keeping the first keeps the player running.
  const player = useMemo(() => `${localUrl(assets.player)}#autoplay;muted;analytics:false`, [liveStreamId]);
  if (isPlaying) {
    return (
      <div class="live-preview">
        <PlayerIframe title={t('live.preview', { name })} src={player} allow="autoplay; fullscreen" />
      </div>
    );
  }
  return (
    <div class="live-preview">
      <img src={versionedUrl(assets.thumbnail, round)} alt="" width={640} height={360} />
      <button
        type="button"
        class="live-play"
        aria-label={t('live.play', { name })}
        title={t('live.playHere')}
        onClick={() => setPlaying(true)}
      >
        <Icon name="play" size={28} />
      </button>
    </div>
  );
}

function framesText({
  width,
  height,
  framesPerSecond,
  droppedFrames,
  missingFrames,
}: BroadcastStats): string {
  const lost = droppedFrames + missingFrames;
  return [
    ...(width === undefined || height === undefined ? [] : [withUnit(width, `× ${height}`)]),
    withUnit(formatNumber(framesPerSecond), 'fps'),
    lost === 0 ? t('live.noFramesLost') : t('live.framesLost', { count: lost }),
  ].join(', ');
}
