import { formatNumber } from '../../format/size.ts';
import { t } from '../../texts/video.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { loadPlays } from '../../ui/video/load-list-details.ts';

/** Number of all plays. Empty until it is known: nothing on the page depends on it. */
export function VideoPlays({ videoId, href }: { videoId: string; href: string }) {
  const { value: plays } = useLoad(videoId, signal => loadPlays([{ videoId }], signal));
  const count = plays?.get(videoId);
  if (count === undefined) return null;
  return (
    <a class="video-plays" href={href}>
      {t('video.plays', { count, plays: formatNumber(count) })}
    </a>
  );
}
