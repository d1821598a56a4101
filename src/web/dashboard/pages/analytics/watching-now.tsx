import { useState } from 'preact/hooks';
import { formatNumber } from '../../format/size.ts';
import { Badge } from '../../ui/badge.tsx';
import { useEvery } from '../../ui/use-every.ts';
import { useFeed } from '../../ui/use-feed.ts';
import { useLoad } from '../../ui/use-load.ts';
import { loadViewersNow } from './numbers.ts';

const askEveryMs = 10_000;
/** A broadcast of which nothing is heard for so long is over. */
const silentMs = 4_000;

/** How many watch at this moment, as players report it; of one live stream, as the server sees it, each second. */
export function WatchingNow({ mediaId }: { mediaId: string | undefined }) {
  const reported = useLoad(mediaId ?? '', signal => loadViewersNow(mediaId, signal));
  const [broadcasts, setBroadcasts] = useState<ReadonlyMap<string, { viewers: number; atMs: number }>>(
    new Map(),
  );
  useEvery(askEveryMs, reported.reload);
  useFeed(({ type, liveStreamId, viewers }) => {
    if (type !== 'broadcast.stats' || liveStreamId === undefined || typeof viewers !== 'number') return;
    if (mediaId !== undefined && mediaId !== liveStreamId) return;
    const atMs = Date.now();
    setBroadcasts(before => {
      const kept = [...before].filter(([, { atMs: heardMs }]) => atMs - heardMs < silentMs);
      return new Map([...kept, [liveStreamId, { viewers, atMs }] as const]);
    });
  });
  const onAir = [...broadcasts.values()].filter(({ atMs }) => Date.now() - atMs < askEveryMs + silentMs);
  const live = onAir.reduce((sum, { viewers }) => sum + viewers, 0);
  // Players report every few seconds; what the server sends to viewers of broadcasts is known at once.
  const count = Math.max(live, reported.value ?? 0);
  if (reported.value === undefined && onAir.length === 0) return null;
  return (
    <Badge tone={count > 0 ? 'live' : 'neutral'}>
      {count === 0 ? 'Nobody is watching now' : `${formatNumber(count)} watching now`}
    </Badge>
  );
}
