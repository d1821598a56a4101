import { useEffect, useRef } from 'preact/hooks';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';

/** An event is on its way for about so long, where the receiver is well. */
const refreshDelayMs = 1_000;
const pollMs = 5_000;

/**
 * Keeps deliveries that are shown up to date: after each event that the feed tells of, and again while some are under way.
 *
 * @returns asks for them once more in a moment
 */
export function useDeliveryRefresh(reload: () => void, isUnderWay: boolean): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const soon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      reload();
    }, refreshDelayMs);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useFeed(({ eventId }) => {
    if (eventId !== undefined) soon();
  });
  useInterval(isUnderWay ? pollMs : undefined, reload);
  return soon;
}
