import { formatTime } from '../../../shared/time-text.ts';
import type { LiveStream } from '../../api/api-types.ts';
import type { BroadcastStats } from '../../broadcasts/broadcast-stats.ts';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../broadcasts/stream-state.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatNumber } from '../../format/size.ts';
import { formatDate } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';

export function StreamCard({
  stream,
  stats,
  round,
}: {
  stream: LiveStream;
  stats: BroadcastStats | undefined;
  round: number;
}) {
  const { liveStreamId, name, assets, createdAt, updatedAt } = stream;
  const restreams = stream.restreams.filter(({ enabled = true }) => enabled);
  const state = streamStateOf(stream.broadcasting, stats);
  const version = state === 'off' ? updatedAt : round;
  return (
    <li class="stream-card">
      <a href={`/dashboard/live/${liveStreamId}`}>
        <span class="stream-picture">
          <img src={versionedUrl(assets.thumbnail, version)} alt="" width={320} height={180} loading="lazy" />
          <span class="stream-state">
            <StreamBadge state={state} />
          </span>
          {stats !== undefined && (
            <span class="stream-numbers">
              <span>
                <Icon name="eye" size={16} />
                {formatNumber(stats.viewers)}
                <span class="for-readers"> viewers</span>
              </span>
              <span>
                <span class="for-readers">live for </span>
                {formatTime(stats.durationSeconds)}
              </span>
            </span>
          )}
        </span>
        <span class="stream-name">{name}</span>
      </a>
      <p class="stream-facts">
        {!stream.public && (
          <Badge>
            <Icon name="lock" size={13} />
            Private
          </Badge>
        )}
        {restreams.length > 0 && (
          <Badge>{restreams.length === 1 ? '1 restream' : `${restreams.length} restreams`}</Badge>
        )}
        <span>Created {formatDate(createdAt)}</span>
      </p>
    </li>
  );
}
