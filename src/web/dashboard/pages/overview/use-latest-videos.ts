import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { isAudioOnly, type VideoState, videoStateOf } from '../../format/video-state.ts';
import { loadPlays, loadStatuses } from '../../ui/video/load-list-details.ts';
import { useVideoStatuses } from '../../ui/video/use-video-statuses.ts';

export interface LoadedVideos {
  readonly videos: readonly Video[];
  readonly statuses: ReadonlyMap<string, VideoStatus>;
  /** Plays since each video was created; empty if they cannot be loaded. */
  readonly plays: ReadonlyMap<string, number>;
}

export interface ListedVideo {
  readonly video: Video;
  readonly state: VideoState | undefined;
  readonly durationSeconds: number | undefined;
  readonly isAudioOnly: boolean;
  readonly plays: number | undefined;
}

const maxShown = 5;
const noVideos: LoadedVideos = { videos: [], statuses: new Map(), plays: new Map() };

export async function loadLatestVideos(signal: AbortSignal): Promise<LoadedVideos> {
  const { data: videos } = await call('GET /videos', {
    query: { pageSize: maxShown, sortBy: 'createdAt', sortOrder: 'desc' },
    signal,
  });
  const [statuses, plays] = await Promise.all([
    orNothing(loadStatuses(videos, signal), signal),
    orNothing(loadPlays(videos, signal), signal),
  ]);
  return { videos, statuses, plays };
}

/** The list works without what cannot be loaded. */
function orNothing<Value>(loading: Promise<ReadonlyMap<string, Value>>, signal: AbortSignal) {
  return loading.catch((): ReadonlyMap<string, Value> => {
    signal.throwIfAborted();
    return new Map();
  });
}

export function useLatestVideos(loaded = noVideos): readonly ListedVideo[] {
  const statuses = useVideoStatuses(loaded.videos, loaded.statuses);
  return loaded.videos.map(video => {
    const status = statuses.get(video.videoId) ?? loaded.statuses.get(video.videoId);
    return {
      video,
      state: status && videoStateOf(video, status),
      isAudioOnly: status !== undefined && isAudioOnly(status),
      plays: loaded.plays.get(video.videoId),
      durationSeconds: status?.encoding.metadata.duration ?? undefined,
    };
  });
}
