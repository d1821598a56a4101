import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import {
  videoChangesSchema,
  videoCreationSchema,
  videoDeletionQuerySchema,
  videoListSchema,
  videoSchema,
  videosQuerySchema,
} from './videos.schema.ts';
import type { VideosService } from './videos.service.ts';

/** The routes below `/videos` that are about the container itself. */
export function videoRoutes(videos: VideosService): Route[] {
  const one = {
    tag: 'Videos',
    auth: 'key',
    params: { videoId: 'Id of the video.' },
    find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
      videos.find(caller.projectId, params.videoId),
  } as const;
  const shown = { description: 'The video.', schema: videoSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/videos',
      tag: 'Videos',
      summary: 'List videos',
      auth: 'key',
      query: videosQuerySchema,
      success: { status: 200, description: 'A page of videos.', schema: videoListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const scope = { projectId: caller.projectId, isDiscarded: false };
        const page = { ...query, sort: sortOf(query, 'createdAt') };
        const { views, total } = await videos.list(scope, query, page);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/videos',
      tag: 'Videos',
      summary: 'Create a video',
      description: 'Makes a container to upload into. With `source`, the video is fetched or copied instead.',
      auth: 'key',
      body: jsonBody(videoCreationSchema),
      success: { status: 201, ...shown },
      otherSuccess: {
        status: 202,
        description: 'The video; its source is being fetched or copied.',
        when: ({ body }) => body.source !== undefined,
      },
      handle: async ({ caller, body: { source, ...attributes } }) => {
        const video =
          source === undefined
            ? await videos.createInBatch(caller.projectId, attributes)
            : await videos.createFrom(caller.projectId, source, attributes);
        return videos.view(video);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}',
      summary: 'Get a video',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => videos.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/videos/{videoId}',
      summary: 'Change a video',
      description: 'What is not sent stays.',
      ...one,
      body: jsonBody(videoChangesSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => videos.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/videos/{videoId}',
      summary: 'Delete a video',
      description:
        'It is discarded: nobody can watch it any more, and for as many days as `limits.videoRestoreDays` of `GET /account` tells, it can be restored. Then its files are removed; at once with `permanently`, and where the server keeps no discarded videos.',
      ...one,
      query: videoDeletionQuerySchema,
      find: ({ params, caller }) =>
        videos.find(caller.projectId, params.videoId) ??
        videos.findDiscarded(caller.projectId, params.videoId),
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found, query }) => videos.remove(found, { isForGood: query.permanently === 'true' }),
    }),
  ];
}
