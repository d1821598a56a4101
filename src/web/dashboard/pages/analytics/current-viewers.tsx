import { useState } from 'preact/hooks';
import { t } from '../../texts/overview.ts';
import { Badge } from '../../ui/badge.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { loadCurrentViewers } from './analytics-data.ts';

const refreshMs = 10_000;
/** A broadcast without messages for this long has ended. */
const staleMs = 4_000;

/**
 * The higher of two counts: players report every few seconds, the server counts live viewers at once. Undefined while
 * neither is known.
 */
export function useCurrentViewers(mediaId: string | undefined): number | undefined {
  const reported = useLoad(mediaId ?? '', signal => loadCurrentViewers(mediaId, signal));
  const [broadcasts, setBroadcasts] = useState<ReadonlyMap<string, { viewers: number; atMs: number }>>(
    new Map(),
  );
  useInterval(refreshMs, reported.reload);
  useFeed(({ type, liveStreamId, viewers }) => {
    if (type !== 'broadcast.stats' || liveStreamId === undefined || typeof viewers !== 'number') return;
    if (mediaId !== undefined && mediaId !== liveStreamId) return;
    const atMs = Date.now();
    setBroadcasts(before => {
      const kept = [...before].filter(([, { atMs: heardMs }]) => atMs - heardMs < staleMs);
      return new Map([...kept, [liveStreamId, { viewers, atMs }] as const]);
    });
  });
  const onAir = [...broadcasts.values()].filter(({ atMs }) => Date.now() - atMs < refreshMs + staleMs);
  const live = onAir.reduce((sum, { viewers }) => sum + viewers, 0);
  if (reported.value === undefined && onAir.length === 0) return undefined;
  return Math.max(live, reported.value ?? 0);
}

export function CurrentViewers({ mediaId }: { mediaId: string | undefined }) {
  const count = useCurrentViewers(mediaId);
  if (count === undefined) return null;
  return (
    <Badge tone={count > 0 ? 'live' : 'neutral'}>
      {count === 0 ? t('viewers.none') : t('viewers.now', { count })}
    </Badge>
  );
}
