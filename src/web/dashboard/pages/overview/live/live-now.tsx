import type { LiveNowItem } from '../../../broadcasts/use-live-now.ts';
import { useThumbnailVersion } from '../../../broadcasts/use-thumbnail-version.ts';
import { t } from '../../../texts/overview.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { CompactStream } from './compact-stream.tsx';
import { LiveMonitor } from './live-monitor.tsx';

const maxShown = 8;

/** One live stream in full, or several in short. */
export function LiveNow({ onAir }: { onAir: readonly LiveNowItem[] }) {
  const round = useThumbnailVersion(onAir.length > 0);
  const isMore = onAir.length > maxShown;
  const [first] = onAir;
  return (
    <Card
      title={t('live.title')}
      actions={
        <Button small href="/dashboard/live">
          {isMore ? t('live.showAll', { count: onAir.length }) : t('live.all')}
        </Button>
      }
    >
      {first === undefined ? (
        <EmptyState icon="live" title={t('live.none')}>
          {t('live.noneText')}
        </EmptyState>
      ) : onAir.length === 1 ? (
        <LiveMonitor key={first.stream.liveStreamId} item={first} round={round} />
      ) : (
        <ul class="compact-streams">
          {onAir.slice(0, maxShown).map(item => (
            <CompactStream key={item.stream.liveStreamId} item={item} round={round} />
          ))}
        </ul>
      )}
    </Card>
  );
}
