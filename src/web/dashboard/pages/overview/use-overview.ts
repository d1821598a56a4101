import { useEffect, useRef } from 'preact/hooks';
import type { ApiKeyPair, LiveStream, Usage } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import type { FeedMessage } from '../../api/feed.ts';
import { withoutBroadcast } from '../../broadcasts/stream-state.ts';
import { widestEnvironment } from '../../state/session.ts';
import { useEvery } from '../../ui/use-every.ts';
import { useFeed } from '../../ui/use-feed.ts';
import { type Loaded, useLoad } from '../../ui/use-load.ts';
import {
  type ListedVideo,
  type LoadedVideos,
  loadLatestVideos,
  useLatestVideos,
} from './use-latest-videos.ts';
import { type LiveOnAir, useOnAir } from './use-on-air.ts';

/** What the server tells for the overview. */
interface LoadedFacts {
  readonly usage: Usage;
  /** The newest first, a hundred at most. */
  readonly streams: readonly LiveStream[];
  readonly latest: LoadedVideos;
  readonly keyPairs: readonly ApiKeyPair[];
  /** Whether the newest live stream has been on air in the last 30 days. */
  readonly hasBroadcast: boolean;
}

/** What the overview shows, with what the feed has told since. */
export interface Overview extends LoadedFacts {
  /** The newest ones. */
  readonly videos: readonly ListedVideo[];
  readonly onAir: readonly LiveOnAir[];
}

const freshForMs = 30_000;
/** What the feed tells at once is one reason to ask again. */
const gatherMs = 400;

const reasonsToReload: ReadonlySet<string> = new Set([
  'gap',
  'video.source.recorded',
  'video.encoding.quality.completed',
]);

/** Loads all of the overview at once, so that nothing moves while it is built up, and keeps it fresh. */
export function useOverview(): Loaded<Overview> {
  const loaded = useLoad('', load);
  const reload = useGathered(loaded.reload);
  useFeed(({ type }: FeedMessage) => {
    if (reasonsToReload.has(type)) reload();
  });
  const videos = useLatestVideos(loaded.value?.latest);
  const onAir = useOnAir(loaded.value?.streams ?? [], endedId => {
    const { value } = loaded;
    if (endedId !== undefined && value !== undefined) {
      loaded.set({ ...value, streams: withoutBroadcast(value.streams, endedId) });
    }
    reload();
  });
  useEvery(freshForMs, loaded.reload);
  const { value, problem, isLoading } = loaded;
  return {
    value: value === undefined ? undefined : { ...value, videos, onAir },
    problem,
    isLoading,
    reload: loaded.reload,
    set: loaded.set,
  };
}

async function load(signal: AbortSignal): Promise<LoadedFacts> {
  const [usage, { data: streams }, latest, { data: keyPairs }] = await Promise.all([
    call('GET /usage', { signal }),
    call('GET /live-streams', {
      query: { pageSize: 100, sortBy: 'createdAt', sortOrder: 'desc' },
      signal,
    }),
    loadLatestVideos(signal),
    call('GET /account/api-keys', { headers: { 'Millrace-Environment': widestEnvironment() }, signal }),
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

/** Does something once, a little after it was asked for the first time. */
function useGathered(work: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    if (timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      work();
    }, gatherMs);
  };
}
