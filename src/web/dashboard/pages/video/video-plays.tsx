import { formatNumber } from '../../format/size.ts';
import { environment } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { loadPlays } from '../analytics/analytics-data.ts';
import { retentionDays } from '../analytics/time-range.ts';

const hourMs = 3_600_000;

/** Number of plays for as long as they are kept. Empty until it is known: nothing on the page depends on it. */
export function VideoPlays({ videoId, href }: { videoId: string; href: string }) {
  const isSandbox = environment.value === 'sandbox';
  const { value: count } = useLoad(`${videoId} ${isSandbox}`, signal => {
    const toMs = Date.now();
    const fromMs = toMs - (isSandbox ? 24 : retentionDays * 24) * hourMs;
    return loadPlays({ fromMs, toMs, mediaId: videoId }, signal);
  });
  if (count === undefined) return null;
  const plays = formatNumber(count);
  return (
    <a class="video-plays" href={href}>
      {isSandbox
        ? t('video.playsHours', { count, plays })
        : t('video.playsDays', { count, plays, days: retentionDays })}
    </a>
  );
}
