import { StreamBadge } from '../../broadcasts/stream-badge.tsx';
import { usePictureRound } from '../../broadcasts/use-picture-round.ts';
import { versionedUrl } from '../../format/local-url.ts';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatClock } from '../../format/time.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Card } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import type { LiveOnAir } from './use-on-air.ts';

const shownAtMost = 8;

/** What is on air, with a picture that keeps up with it. */
export function LiveNow({ onAir }: { onAir: readonly LiveOnAir[] }) {
  const round = usePictureRound(onAir.length > 0);
  const isMore = onAir.length > shownAtMost;
  return (
    <Card
      title="Live now"
      actions={
        <Button small href="/dashboard/live">
          {isMore ? `All ${formatNumber(onAir.length)} of them` : 'All live streams'}
        </Button>
      }
    >
      {onAir.length === 0 ? (
        <Empty icon="live" title="Nothing is live">
          A live stream appears here as soon as its encoder sends video.
        </Empty>
      ) : (
        <ul class="on-air-list">
          {onAir.slice(0, shownAtMost).map(one => (
            <LiveCard key={one.stream.liveStreamId} onAir={one} round={round} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function LiveCard({ onAir: { stream, stats }, round }: { onAir: LiveOnAir; round: number }) {
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
                {formatClock(stats.durationSeconds)}
              </span>
            </>
          )}
        </span>
      </a>
    </li>
  );
}
