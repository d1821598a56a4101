import { useEffect, useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import { useBroadcasts } from '../../../broadcasts/use-broadcasts.ts';
import { type LiveNowStream, liveNowStreams, unlistedIds } from './live-now-streams.ts';

export type LiveNowItem = LiveNowStream<BroadcastStats>;

/** Loads streams that are not in `listed` when the feed mentions them. */
export function useLiveNow(
  listed: readonly LiveStream[],
  onTurn: (endedId?: string) => void,
): readonly LiveNowItem[] {
  const stats = useBroadcasts(onTurn);
  const [further, setFurther] = useState<readonly LiveStream[]>([]);
  const streams = [...listed, ...further];
  const [unknown] = unlistedIds(streams, stats);
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
