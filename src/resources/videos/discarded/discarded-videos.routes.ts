import { z } from 'zod';
import type { Caller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { videoListSchema, videoSchema, videosQuerySchema } from '../videos.schema.ts';
import type { VideosService } from '../videos.service.ts';

const restoreSchema = z
  .strictObject({
    discarded: z
      .boolean()
      .refine(isDiscarded => !isDiscarded, 'Value must be false.')
      .optional()
      .describe('`false` brings the video back; without it nothing happens.'),
  })
  .meta({ examples: [{ discarded: false }] });

/** The routes below `/discarded/videos`: videos that were deleted and can still be restored. */
export function discardedVideoRoutes(videos: VideosService): Route[] {
  const one = {
    path: '/discarded/videos/{videoId}',
    tag: 'Discarded videos',
    auth: 'key',
    params: { videoId: 'Id of the video.' },
    find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
      videos.findDiscarded(caller.projectId, params.videoId),
  } as const;
  const shown = { description: 'The video.', schema: videoSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/discarded/videos',
      tag: 'Discarded videos',
      summary: 'List discarded videos',
      auth: 'key',
      query: videosQuerySchema,
      success: { status: 200, description: 'A page of discarded videos.', schema: videoListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const scope = { projectId: caller.projectId, isDiscarded: true };
        const page = { ...query, sort: sortOf(query, 'createdAt') };
        const { views, total } = await videos.list(scope, query, page);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get a discarded video',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => videos.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      summary: 'Restore a discarded video',
      ...one,
      body: jsonBody(restoreSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => (body.discarded === false ? videos.restore(found) : videos.view(found)),
    }),
  ];
}
