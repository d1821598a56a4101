import { useEffect, useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';

/** All plays of each video, with one request. Undefined until they are known. */
export function usePlays(videos: readonly Video[]): ReadonlyMap<string, number> | undefined {
  const [plays, setPlays] = useState<ReadonlyMap<string, number>>();
  useEffect(() => {
    if (videos.length === 0) return;
    const abort = new AbortController();
    const mediaId = videos.map(({ videoId }) => videoId);
    call('GET /data/buckets/{metric}/{breakdown}', {
      params: { metric: 'play-total', breakdown: 'media-id' },
      query: { filterBy: { mediaId }, pageSize: 100 },
      signal: abort.signal,
    }).then(
      ({ data }) =>
        setPlays(
          new Map([
            ...mediaId.map(id => [id, 0] as const),
            ...data.map(({ dimensionValue, metricValue }) => [dimensionValue, metricValue] as const),
          ]),
        ),
      // The list works without.
      () => undefined,
    );
    return () => abort.abort();
  }, [videos]);
  return plays;
}
