import { formatTime } from '../../../shared/time-text.ts';
import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { useThumbnailVersion } from '../../broadcasts/use-thumbnail-version.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import type { LiveNowItem } from './use-live-now.ts';

const maxShown = 8;

export function LiveNow({ onAir }: { onAir: readonly LiveNowItem[] }) {
  const round = useThumbnailVersion(onAir.length > 0);
  const isMore = onAir.length > maxShown;
  return (
    <Card
      title="Live now"
      actions={
        <Button small href="/dashboard/live">
          {isMore ? `Show all ${formatNumber(onAir.length)}` : 'All live streams'}
        </Button>
      }
    >
      {onAir.length === 0 ? (
        <EmptyState icon="live" title="Nothing is live">
          A live stream appears here as soon as its encoder sends video.
        </EmptyState>
      ) : (
        <ul class="on-air-list">
          {onAir.slice(0, maxShown).map(one => (
            <LiveCard key={one.stream.liveStreamId} onAir={one} round={round} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function LiveCard({ onAir: { stream, stats }, round }: { onAir: LiveNowItem; round: number }) {
  const viewers = stats?.viewers ?? 0;
  return (
    <li>
      <a class="on-air-card" href={`/dashboard/live/${stream.liveStreamId}`}>
        <span class="on-air-picture">
          <img src={versionedUrl(stream.assets.thumbnail, round)} alt="" width={320} height={180} />
          <span class="on-air-badge">
            <StreamBadge state={stats?.state ?? 'live'} />
          </span>
        </span>
        <span class="on-air-name">{stream.name}</span>
        <span class="on-air-facts number">
          <span class="with-icon">
            <Icon name="eye" size={16} />
            {formatNumber(viewers)} {viewers === 1 ? 'viewer' : 'viewers'}
          </span>
          {stats !== undefined && (
            <>
              <span>{formatBitrate(stats.bitrateBitsPerSecond)}</span>
              <span>
                <span class="for-readers">live for </span>
                {formatTime(stats.durationSeconds)}
              </span>
            </>
          )}
        </span>
      </a>
    </li>
  );
}
