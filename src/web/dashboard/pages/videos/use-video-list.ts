import { useEffect, useRef } from 'preact/hooks';
import type { Answer } from '../../api/client.ts';
import { call } from '../../api/client.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { type QuietReload, useQuietReload } from '../../ui/hooks/use-quiet-reload.ts';
import { videosRevision } from '../../uploads/upload-store.ts';
import { apiQueryOf, type ListChoice } from './list-query.ts';

const maxRemembered = 1_000;

/** Own changes are shown at once, those of others when they move no row under the pointer. */
export function useVideoList(choice: ListChoice): {
  readonly list: Loaded<Answer<'GET /videos'>>;
  readonly quiet: QuietReload;
} {
  const query = apiQueryOf(choice);
  const list = useLoad(JSON.stringify(query), signal => call('GET /videos', { query, signal }));
  const quiet = useQuietReload(list);
  const requested = useRef(new Set<string>());
  const revision = videosRevision.value;
  const first = useRef(revision);
  useEffect(() => {
    if (revision !== first.current) list.reload();
  }, [revision]);
  useFeed(({ type, videoId }) => {
    if (type === 'gap') return quiet.reload();
    if (videoId === undefined || !type.startsWith('video.')) return;
    if (list.value === undefined) return;
    if (list.value.data.some(video => video.videoId === videoId)) {
      // The state may no longer be the one that is filtered by.
      if (choice.status !== undefined && type !== 'video.encoding.progress') quiet.reload();
      return;
    }
    // Reloads once per unknown video, which may be on another page.
    if (requested.current.has(videoId)) return;
    if (requested.current.size >= maxRemembered) requested.current.clear();
    requested.current.add(videoId);
    quiet.reload();
  });
  return { list, quiet };
}
