import { useState } from 'preact/hooks';
import type { Restream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { isBroadcastChange } from '../../../broadcasts/broadcast-stats.ts';
import { useFeed } from '../../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../../ui/hooks/use-load.ts';

export function useRestreams(liveStreamId: string): {
  readonly loaded: Loaded<readonly Restream[]>;
  readonly running: readonly Restream[];
} {
  const [moments, setMoments] = useState<ReadonlyMap<number, Restream>>(new Map());
  const loaded = useLoad(liveStreamId, async signal => {
    const path = { params: { liveStreamId }, signal };
    return (await call('GET /live-streams/{liveStreamId}/restreams', path)).data;
  });
  useFeed(message => {
    if (message.liveStreamId !== liveStreamId) return;
    if (message.type === 'restream.state') {
      setMoments(before => new Map(before).set(Number(message.position), message as unknown as Restream));
    } else if (isBroadcastChange(message)) {
      setMoments(new Map());
      loaded.reload();
    }
  });
  const running = (loaded.value ?? []).map((restream, position) => {
    const moment = moments.get(position);
    return moment === undefined ? restream : { ...moment, serverUrl: restream.serverUrl };
  });
  return { loaded, running };
}
