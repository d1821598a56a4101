import type { ApiKeyPair, LiveStream, Usage } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import type { FeedMessage } from '../../api/feed.ts';
import { withBroadcastEnded } from '../../broadcasts/stream-state.ts';
import { type LiveNowItem, useLiveNow } from '../../broadcasts/use-live-now.ts';
import { accountEnvironment, can, session } from '../../state/session.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { useSoon } from '../../ui/hooks/use-timers.ts';
import {
  type ListedVideo,
  type LoadedVideos,
  loadLatestVideos,
  useLatestVideos,
} from './use-latest-videos.ts';

interface LoadedOverview {
  readonly usage: Usage;
  readonly streams: readonly LiveStream[];
  readonly latest: LoadedVideos;
  readonly keyPairs: readonly ApiKeyPair[];
  /** True when the newest live stream has been live in the last 30 days. */
  readonly hasBroadcast: boolean;
}

export interface Overview extends LoadedOverview {
  readonly videos: readonly ListedVideo[];
  readonly liveNow: readonly LiveNowItem[];
}

const refreshMs = 30_000;
const debounceMs = 400;

const reloadEvents: ReadonlySet<string> = new Set([
  'gap',
  'video.source.recorded',
  'video.encoding.quality.completed',
]);

/** Loads everything at once, so that the layout does not shift. */
export function useOverview(): Loaded<Overview> {
  const loaded = useLoad(`${session.value?.role}`, load);
  const reload = useSoon(debounceMs, loaded.reload);
  useFeed(({ type }: FeedMessage) => {
    if (reloadEvents.has(type)) reload();
  });
  const videos = useLatestVideos(loaded.value?.latest);
  const liveNow = useLiveNow(loaded.value?.streams ?? [], endedId => {
    const { value } = loaded;
    if (endedId !== undefined && value !== undefined) {
      loaded.set({ ...value, streams: withBroadcastEnded(value.streams, endedId) });
    }
    reload();
  });
  useInterval(refreshMs, loaded.reload);
  return { ...loaded, value: loaded.value && { ...loaded.value, videos, liveNow } };
}

async function load(signal: AbortSignal): Promise<LoadedOverview> {
  const [usage, { data: streams }, latest, { data: keyPairs }] = await Promise.all([
    call('GET /usage', { signal }),
    call('GET /live-streams', {
      query: { pageSize: 100, sortBy: 'createdAt', sortOrder: 'desc' },
      signal,
    }),
    loadLatestVideos(signal),
    can('admin')
      ? call('GET /account/api-keys', { headers: { 'Millrace-Environment': accountEnvironment() }, signal })
      : { data: [] },
  ]);
  const [newest] = streams;
  const broadcasts =
    newest === undefined
      ? 0
      : await call('GET /live-streams/{liveStreamId}/broadcasts', {
          params: newest,
          query: { pageSize: 1 },
          signal,
        }).then(({ pagination }) => pagination.itemsTotal);
  return { usage, streams, latest, keyPairs, hasBroadcast: broadcasts > 0 };
}
