import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { isAudioOnly, type VideoState, videoStateOf } from '../../format/video-state.ts';
import { useVideoStatuses } from '../../ui/video/use-video-statuses.ts';

export interface LoadedVideos {
  readonly videos: readonly Video[];
  readonly statuses: ReadonlyMap<string, VideoStatus>;
}

export interface ListedVideo {
  readonly video: Video;
  readonly state: VideoState | undefined;
  readonly durationSeconds: number | undefined;
  readonly isAudioOnly: boolean;
}

const maxShown = 5;
const noVideos: LoadedVideos = { videos: [], statuses: new Map() };

export async function loadLatestVideos(signal: AbortSignal): Promise<LoadedVideos> {
  const { data: videos } = await call('GET /videos', {
    query: { pageSize: maxShown, sortBy: 'createdAt', sortOrder: 'desc' },
    signal,
  });
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
  return { videos, statuses };
}

export function useLatestVideos(loaded = noVideos): readonly ListedVideo[] {
  const statuses = useVideoStatuses(loaded.videos, loaded.statuses);
  return loaded.videos.map(video => {
    const status = statuses.get(video.videoId) ?? loaded.statuses.get(video.videoId);
    return {
      video,
      state: status && videoStateOf(video, status),
      isAudioOnly: status !== undefined && isAudioOnly(status),
      durationSeconds: status?.encoding.metadata.duration ?? undefined,
    };
  });
}
