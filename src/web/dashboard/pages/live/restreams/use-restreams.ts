import { useRef, useState } from 'preact/hooks';
import type { Restream, RestreamList } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { isBroadcastChange, statsOf } from '../../../broadcasts/broadcast-stats.ts';
import { useFeed } from '../../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../../ui/hooks/use-load.ts';

interface Restreams {
  readonly loaded: Loaded<RestreamList>;
  readonly statuses: readonly Restream[];
  /** Loads the statuses of a changed list. */
  refresh(): void;
}

/** `onOutdated`: somebody else changed the destinations. */
export function useRestreams(liveStreamId: string, onOutdated: () => void): Restreams {
  const [updates, setUpdates] = useState<ReadonlyMap<number, Restream>>(new Map());
  const loaded = useLoad(liveStreamId, signal =>
    call('GET /live-streams/{liveStreamId}/restreams', { params: { liveStreamId }, signal }),
  );
  /**
   * Highest position updated since the last statistics of the broadcast, which precede the updates of the same
   * second.
   */
  const lastUpdated = useRef(Number.POSITIVE_INFINITY);
  const refresh = () => {
    lastUpdated.current = Number.POSITIVE_INFINITY;
    setUpdates(new Map());
    loaded.reload();
  };
  const known = loaded.value?.data;
  const showChange = () => {
    refresh();
    onOutdated();
  };
  useFeed(message => {
    if (message.liveStreamId !== liveStreamId) return;
    if (isBroadcastChange(message)) refresh();
    else if (known === undefined) return;
    else if (statsOf(message) !== undefined) {
      const isShorter = lastUpdated.current < known.length - 1;
      lastUpdated.current = -1;
      if (isShorter) showChange();
    } else if (message.type === 'restream.state') {
      const position = Number(message.position);
      const update = message as unknown as Restream;
      lastUpdated.current = Math.max(lastUpdated.current, position);
      if (isOther(known[position], update)) showChange();
      else setUpdates(before => new Map(before).set(position, update));
    }
  });
  const statuses = (known ?? []).map((restream, position) => {
    const update = updates.get(position);
    return update === undefined ? restream : { ...update, serverUrl: restream.serverUrl };
  });
  return { loaded, statuses, refresh };
}

function isOther(known: Restream | undefined, update: Restream): boolean {
  return (
    known === undefined ||
    known.name !== update.name ||
    (known.state === 'disabled') !== (update.state === 'disabled')
  );
}
