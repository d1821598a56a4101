import * as z from 'zod';
import { pageOf, sortOf } from '../../../../http/routing/pagination.ts';
import { projectResource } from '../../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../../http/routing/route.ts';
import { videoFilterOf, videoListSchema, videoSchema, videosQuerySchema } from '../videos.schema.ts';
import type { VideosService } from '../videos.service.ts';
import { hidePrivateTokens } from '../watch-access.ts';

const restoreSchema = z
  .strictObject({
    discarded: z
      .boolean()
      .refine(isDiscarded => !isDiscarded, 'Value must be false.')
      .optional()
      .describe('`false` restores the video; without it nothing changes.'),
  })
  .meta({ examples: [{ discarded: false }] });

export function discardedVideoRoutes(videos: VideosService): Route[] {
  const tag = 'Discarded videos';
  const one = {
    ...projectResource(tag, ['videoId', 'Id of the video.'], (projectId, videoId) =>
      videos.findDiscarded(projectId, videoId),
    ),
    path: '/discarded/videos/{videoId}',
  } as const;
  const shown = { description: 'The video.', schema: videoSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/discarded/videos',
      tag,
      summary: 'List discarded videos',
      auth: 'key',
      query: videosQuerySchema,
      success: { status: 200, description: 'A page of discarded videos.', schema: videoListSchema },
      handle: async request => {
        const { caller, query } = request;
        const scope = { projectId: caller.projectId, isDiscarded: true };
        const page = { ...query, sort: sortOf(query, 'createdAt') };
        return pageOf(request, await videos.list(scope, videoFilterOf(query), page));
      },
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get a discarded video',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => videos.view(found, { hidesPrivate: false }),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      summary: 'Restore a discarded video',
      action: 'video.restore',
      ...one,
      body: jsonBody(restoreSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: async ({ found, body, caller }) => {
        const view = await (body.discarded === false
          ? videos.restore(found)
          : videos.view(found, { hidesPrivate: false }));
        return hidePrivateTokens(caller, view, 'assets');
      },
    }),
  ];
}
