import { useState } from 'preact/hooks';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { useFeed } from '../../ui/use-feed.ts';
import { progressOf, type VideoProgress, withProgress } from '../video/video-state.ts';

/** A video with how far it has come. */
export interface ListedVideo {
  readonly video: Video;
  readonly status: VideoStatus;
  readonly progress: VideoProgress;
}

const shownAtMost = 5;
const nothingYet: VideoStatus = {
  encoding: {
    playable: false,
    qualities: [],
    metadata: {
      width: null,
      height: null,
      bitrate: null,
      duration: null,
      framerate: null,
      samplerate: null,
      videoCodec: null,
      audioCodec: null,
      aspectRatio: null,
    },
  },
};

/** The newest videos with how far they have come. @throws ApiProblem */
export async function loadLatestVideos(signal: AbortSignal): Promise<readonly ListedVideo[]> {
  const { data } = await call('GET /videos', {
    query: { pageSize: shownAtMost, sortBy: 'createdAt', sortOrder: 'desc' },
    signal,
  });
  return Promise.all(
    data.map(async video => {
      // One that was deleted at this moment has none.
      const status = await call('GET /videos/{videoId}/status', { params: video, signal }).catch(() => {
        signal.throwIfAborted();
        return nothingYet;
      });
      return { video, status, progress: progressOf(status) };
    }),
  );
}

/** The videos with what the feed has told of their encodes since they were loaded. */
export function useLatestVideos(loaded: readonly ListedVideo[]): readonly ListedVideo[] {
  const [videos, setVideos] = useState(loaded);
  const [seen, setSeen] = useState(loaded);
  if (seen !== loaded && (loaded.length > 0 || seen.length > 0)) {
    setSeen(loaded);
    setVideos(loaded);
  }
  useFeed(message => {
    if (message.type !== 'video.encoding.progress') return;
    setVideos(before =>
      before.map(one => {
        if (one.video.videoId !== message.videoId) return one;
        const status = withProgress(one.status, message as Parameters<typeof withProgress>[1]);
        return status === one.status ? one : { ...one, status, progress: progressOf(status) };
      }),
    );
  });
  return videos;
}
