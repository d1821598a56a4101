import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { isAudioOnly, type VideoState, videoStateOf } from '../../format/video-state.ts';
import { useVideoStatuses } from '../../ui/video/use-video-statuses.ts';

export interface LoadedVideos {
  readonly videos: readonly Video[];
  readonly statuses: ReadonlyMap<string, VideoStatus>;
  /** Since each video was created; empty if they cannot be loaded. */
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
  const [statuses, plays] = await Promise.all([loadStatuses(videos, signal), loadPlays(videos, signal)]);
  return { videos, statuses, plays };
}

async function loadStatuses(
  videos: readonly Video[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, VideoStatus>> {
  const statuses = new Map<string, VideoStatus>();
  await Promise.all(
    videos.map(async video => {
      try {
        statuses.set(video.videoId, await call('GET /videos/{videoId}/status', { params: video, signal }));
      } catch {
        signal.throwIfAborted();
      }
    }),
  );
  return statuses;
}

async function loadPlays(
  videos: readonly Video[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (videos.length === 0) return new Map();
  try {
    const mediaId = videos.map(({ videoId }) => videoId);
    const { data } = await call('GET /data/buckets/{metric}/{breakdown}', {
      params: { metric: 'play-total', breakdown: 'media-id' },
      query: { filterBy: { mediaId }, pageSize: maxShown },
      signal,
    });
    const counted = new Map(data.map(({ dimensionValue, metricValue }) => [dimensionValue, metricValue]));
    return new Map(mediaId.map(id => [id, counted.get(id) ?? 0]));
  } catch {
    signal.throwIfAborted();
    return new Map();
  }
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
