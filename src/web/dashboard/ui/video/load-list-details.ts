import type { Video, VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';

/** Limit of the API. */
const maxAsked = 100;

/** The status of each video, with one request. @throws ApiProblem */
export async function loadStatuses(
  videos: readonly Pick<Video, 'videoId'>[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, VideoStatus>> {
  if (videos.length === 0) return new Map();
  const query = { 'videoIds[]': videos.slice(0, maxAsked).map(({ videoId }) => videoId) };
  const { data } = await call('GET /videos/statuses', { query, ...(signal && { signal }) });
  return new Map(data.map(status => [status.videoId, status] as const));
}

/** All plays of each video, with one request. @throws ApiProblem */
export async function loadPlays(
  videos: readonly Pick<Video, 'videoId'>[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (videos.length === 0) return new Map();
  const mediaId = videos.slice(0, maxAsked).map(({ videoId }) => videoId);
  const { data } = await call('GET /data/buckets/{metric}/{breakdown}', {
    params: { metric: 'play-total', breakdown: 'media-id' },
    query: { filterBy: { mediaId }, pageSize: maxAsked },
    signal,
  });
  const counted = new Map(data.map(({ dimensionValue, metricValue }) => [dimensionValue, metricValue]));
  return new Map(mediaId.map(id => [id, counted.get(id) ?? 0]));
}
