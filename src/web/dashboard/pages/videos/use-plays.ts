import { useEffect, useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { loadPlays } from '../../ui/video/load-list-details.ts';

/** All plays of each video. Undefined until they are known. */
export function usePlays(videos: readonly Video[]): ReadonlyMap<string, number> | undefined {
  const [plays, setPlays] = useState<ReadonlyMap<string, number>>();
  useEffect(() => {
    const abort = new AbortController();
    // The list works without.
    loadPlays(videos, abort.signal).then(setPlays, () => undefined);
    return () => abort.abort();
  }, [videos]);
  return plays;
}
