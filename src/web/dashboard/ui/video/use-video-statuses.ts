import { useEffect, useRef, useState } from 'preact/hooks';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { isSettled, videoStateOf, withProgress } from '../../format/video-state.ts';
import { useFeed } from '../hooks/use-feed.ts';
import { useInterval } from '../hooks/use-interval.ts';
import { loadStatuses } from './load-list-details.ts';

const refreshMs = 5_000;

/** Uses the feed, and polls while something is to come. */
export function useVideoStatuses(
  videos: readonly Video[],
  loaded?: ReadonlyMap<string, VideoStatus>,
): ReadonlyMap<string, VideoStatus> {
  const [statuses, setStatuses] = useState<ReadonlyMap<string, VideoStatus>>(new Map());
  const shown = useRef(videos);
  shown.current = videos;

  const ask = async (wanted: readonly Video[]) => {
    try {
      const known = await loadStatuses(wanted);
      if (known.size > 0) setStatuses(before => new Map([...before, ...known]));
    } catch {
      // The next poll succeeds.
    }
  };
  useEffect(() => {
    if (loaded === undefined) void ask(videos);
    else setStatuses(loaded);
  }, [videos]);

  const isOpen = (video: Video) => {
    const status = statuses.get(video.videoId);
    return status === undefined || !isSettled(videoStateOf(video, status));
  };
  useInterval(videos.some(isOpen) ? refreshMs : undefined, () => void ask(shown.current.filter(isOpen)));
  useFeed(message => {
    const video = shown.current.find(({ videoId }) => videoId === message.videoId);
    if (video === undefined) return;
    if (message.type === 'video.encoding.progress') {
      setStatuses(before => {
        const status = before.get(video.videoId);
        if (status === undefined) return before;
        return new Map(before).set(video.videoId, withProgress(status, message));
      });
    } else void ask([video]);
  });
  return statuses;
}
