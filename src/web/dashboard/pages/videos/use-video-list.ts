import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import { call } from '../../api/client.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { videosRevision } from '../../uploads/upload-store.ts';
import { apiQueryOf, type ListChoice } from './list-query.ts';

const debounceMs = 700;
const maxRemembered = 1_000;

/** A page of the list of videos. It is loaded anew when an upload here, or a recording or upload elsewhere, makes another video. */
export function useVideoList(choice: ListChoice): Loaded<Answer<'GET /videos'>> {
  const query = apiQueryOf(choice);
  const list = useLoad(JSON.stringify(query), signal => call('GET /videos', { query, signal }));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const asked = useRef(new Set<string>());
  const reloadSoon = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(list.reload, debounceMs);
  };
  const revision = videosRevision.value;
  const first = useRef(revision);
  useEffect(() => {
    if (revision !== first.current) list.reload();
  }, [revision]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useFeed(({ type, videoId }) => {
    if (videoId === undefined || !type.startsWith('video.')) return;
    if (list.value === undefined || list.value.data.some(video => video.videoId === videoId)) return;
    // It may belong to another page: one look for each is enough.
    if (asked.current.has(videoId)) return;
    if (asked.current.size >= maxRemembered) asked.current.clear();
    asked.current.add(videoId);
    reloadSoon();
  });
  return list;
}
