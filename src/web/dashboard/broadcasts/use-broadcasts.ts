import { useRef, useState } from 'preact/hooks';
import { useFeed } from '../ui/hooks/use-feed.ts';
import { useInterval } from '../ui/hooks/use-interval.ts';
import { useSoon } from '../ui/hooks/use-timers.ts';
import { type BroadcastStats, isBroadcastChange, isBroadcastEnd, statsOf } from './broadcast-stats.ts';

const batchMs = 120;
/** A broadcast without messages for this long has ended. */
const staleMs = 6_000;

/** `onTurn`: a broadcast began or ended; `endedId` is the live stream whose broadcast ended. */
export function useBroadcasts(onTurn: (endedId?: string) => void): ReadonlyMap<string, BroadcastStats> {
  const heard = useRef(new Map<string, { stats: BroadcastStats; atMs: number }>());
  const [onAir, setOnAir] = useState<ReadonlyMap<string, BroadcastStats>>(new Map());
  const showSoon = useSoon(batchMs, () => {
    const oldestMs = Date.now() - staleMs;
    for (const [id, { atMs }] of heard.current) if (atMs < oldestMs) heard.current.delete(id);
    setOnAir(new Map([...heard.current].map(([id, { stats }]) => [id, stats])));
  });
  useFeed(message => {
    const stats = statsOf(message);
    if (stats !== undefined) heard.current.set(stats.liveStreamId, { stats, atMs: Date.now() });
    else if (isBroadcastChange(message)) {
      const endedId = isBroadcastEnd(message) ? message.liveStreamId : undefined;
      if (endedId !== undefined) heard.current.delete(endedId);
      onTurn(endedId);
    } else return;
    showSoon();
  });
  useInterval(onAir.size > 0 ? staleMs : undefined, showSoon);
  return onAir;
}
