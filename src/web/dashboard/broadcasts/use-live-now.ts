import { useEffect, useState } from 'preact/hooks';
import type { LiveStream } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import type { BroadcastStats } from './broadcast-stats.ts';
import { type LiveNowStream, liveNowStreams, unlistedIds } from './live-now-streams.ts';
import { useBroadcasts } from './use-broadcasts.ts';

export type LiveNowItem = LiveNowStream<BroadcastStats>;

/** Live streams that are live. Loads those that are not in `listed` when the feed mentions them, unless only listed ones are wanted. */
export function useLiveNow(
  listed: readonly LiveStream[],
  onTurn: (endedId?: string) => void,
  isListedOnly = false,
): readonly LiveNowItem[] {
  const stats = useBroadcasts(onTurn);
  const [further, setFurther] = useState<readonly LiveStream[]>([]);
  const listedIds = new Set(listed.map(({ liveStreamId }) => liveStreamId));
  const others = isListedOnly ? [] : further.filter(({ liveStreamId }) => !listedIds.has(liveStreamId));
  const streams = [...listed, ...others];
  const [unknown] = isListedOnly ? [] : unlistedIds(streams, stats);
  useEffect(() => {
    if (unknown === undefined) return;
    const abort = new AbortController();
    const params = { liveStreamId: unknown };
    call('GET /live-streams/{liveStreamId}', { params, signal: abort.signal }).then(
      stream => setFurther(before => [...before, { ...stream, broadcasting: false }]),
      () => undefined,
    );
    return () => abort.abort();
  }, [unknown]);
  return liveNowStreams(streams, stats);
}
