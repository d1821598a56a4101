import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { apiFilterOf, type ListChoice } from './list-query.ts';

/** Limit of what is selected or changed at once. */
export const maxMatching = 1_000;
const askedAtOnce = 100;

/** Loads the newest videos that match the filters, of all pages. @throws ApiProblem */
export async function loadMatching(choice: ListChoice): Promise<readonly Video[]> {
  const filter = apiFilterOf(choice);
  // A video may come to two pages while others are added.
  const found = new Map<string, Video>();
  for (let currentPage = 1; currentPage <= maxMatching / askedAtOnce; currentPage += 1) {
    const { data, pagination } = await call('GET /videos', {
      query: { ...filter, currentPage, pageSize: askedAtOnce },
    });
    for (const video of data) found.set(video.videoId, video);
    if (currentPage >= pagination.pagesTotal) break;
  }
  return [...found.values()].slice(0, maxMatching);
}
