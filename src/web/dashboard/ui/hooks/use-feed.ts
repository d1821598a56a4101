import { useEffect, useRef } from 'preact/hooks';
import { type FeedMessage, subscribe } from '../../api/feed.ts';

export function useFeed(hear: (message: FeedMessage) => void): void {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => subscribe(message => latest.current(message)), []);
}
