import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useSoon } from '../../ui/hooks/use-timers.ts';

const refreshDelayMs = 1_000;
const pollMs = 5_000;

export function useDeliveryRefresh(reload: () => void, isUnderWay: boolean): () => void {
  const soon = useSoon(refreshDelayMs, reload);
  useFeed(({ eventId }) => {
    if (eventId !== undefined) soon();
  });
  useInterval(isUnderWay ? pollMs : undefined, reload);
  return soon;
}
