import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { streamStateOf } from '../../broadcasts/stream-state.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatDate } from '../../format/time.ts';
import { rich, t } from '../../texts/live.ts';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { StreamMenu } from './stream-menu.tsx';
import { liveFor, restreamsText, type StreamItem, wordsForReaders } from './streams-table.tsx';

export function StreamCard({ item: { stream, stats, round } }: { item: StreamItem }) {
  const { liveStreamId, name, assets, createdAt, updatedAt } = stream;
  const restreams = restreamsText(stream);
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
                {wordsForReaders(
                  rich('streams.viewerCount', { count: stats.viewers }, { n: text => <>{text}</> }),
                )}
              </span>
              <span>{liveFor(stats)}</span>
            </span>
          )}
        </span>
        <span class="stream-name" dir="auto">
          {name}
        </span>
      </a>
      <p class="stream-facts">
        {!stream.public && (
          <Badge>
            <Icon name="lock" size={13} />
            {t('streams.private')}
          </Badge>
        )}
        {restreams !== undefined && <Badge>{restreams}</Badge>}
        <span>{t('streams.createdOn', { date: formatDate(createdAt) })}</span>
        <StreamMenu stream={stream} />
      </p>
    </li>
  );
}
