import { broadcastVerdict } from '../../../broadcasts/broadcast-verdict.ts';
import { StreamBadge } from '../../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../../broadcasts/stream-state.ts';
import { useBroadcast } from '../../../broadcasts/use-broadcast.ts';
import type { LiveNowItem } from '../../../broadcasts/use-live-now.ts';
import { VerdictLine } from '../../../broadcasts/verdict-line.tsx';
import { versionedUrl } from '../../../format/local-url.ts';
import { formatBitrate } from '../../../format/size.ts';
import { t } from '../../../texts/overview.ts';
import { LiveActions } from './live-actions.tsx';
import { LiveTime } from './live-time.tsx';

const noTurn = () => {};

export function CompactStream({
  item: { stream, stats: heard },
  round,
}: {
  item: LiveNowItem;
  round: number;
}) {
  const broadcast = useBroadcast(stream.liveStreamId, noTurn);
  const stats = broadcast.stats ?? heard;
  const state = streamStateOf(true, { state: broadcast.state ?? heard?.state });
  const { alarms } = broadcast;
  const verdict = broadcastVerdict({ state, stats, alarms, isPulled: stream.source?.enabled });
  return (
    <li class="compact-stream">
      <a class="compact-link" href={`/dashboard/live/${stream.liveStreamId}`}>
        <span class="compact-picture">
          <img src={versionedUrl(stream.assets.thumbnail, round)} alt="" width={320} height={180} />
          <span class="compact-badge">
            <StreamBadge state={state} />
          </span>
        </span>
        <span class="compact-name">{stream.name}</span>
      </a>
      <p class="compact-figures number">
        <span>{t('live.viewers', { count: stats?.viewers ?? 0 })}</span>
        {stats !== undefined && (
          <>
            <span>{formatBitrate(stats.bitrateBitsPerSecond)}</span>
            <span>
              <LiveTime seconds={stats.durationSeconds} />
            </span>
          </>
        )}
      </p>
      <VerdictLine verdict={verdict} />
      <LiveActions stream={stream} isCompact />
    </li>
  );
}
