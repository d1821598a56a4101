import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import { call } from '../../api/client.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { videosRevision } from '../../uploads/upload-store.ts';
import { apiQueryOf, type ListChoice } from './list-query.ts';

const debounceMs = 700;
const maxRemembered = 1_000;

export function useVideoList(choice: ListChoice): Loaded<Answer<'GET /videos'>> {
  const query = apiQueryOf(choice);
  const list = useLoad(JSON.stringify(query), signal => call('GET /videos', { query, signal }));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const requested = useRef(new Set<string>());
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
    // Reloads once per unknown video, which may be on another page.
    if (requested.current.has(videoId)) return;
    if (requested.current.size >= maxRemembered) requested.current.clear();
    requested.current.add(videoId);
    reloadSoon();
  });
  return list;
}
