import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  videoChangesSchema,
  videoCreationSchema,
  videoDeletionQuerySchema,
  videoFilterOf,
  videoListSchema,
  videoSchema,
  videosQuerySchema,
} from './videos.schema.ts';
import type { VideosService } from './videos.service.ts';
import { hidePrivateTokens, requireWatchable, requireWatchableBy } from './watch-access.ts';

export function videoRoutes(videos: VideosService): Route[] {
  const all = { path: '/videos', tag: 'Videos', auth: 'key' } as const;
  const one = projectResource('Videos', ['videoId', 'Id of the video.'], (projectId, videoId) =>
    videos.find(projectId, videoId),
  );
  const shown = { description: 'The video.', schema: videoSchema };

  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List videos',
      query: videosQuerySchema,
      success: { status: 200, description: 'A page of videos.', schema: videoListSchema },
      handle: async request => {
        const { caller, query } = request;
        const scope = { projectId: caller.projectId, isDiscarded: false };
        const page = { ...query, sort: sortOf(query, 'createdAt') };
        return pageOf(request, await videos.list(scope, videoFilterOf(query), page));
      },
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      ...all,
      summary: 'Create a video',
      description:
        'Creates a video that you upload a file to. With `source`, the server fetches or copies the file instead. With `source` and `clip`, a part of a video or of a running broadcast becomes a new video within a second. Copies also need the scope `read`.',
      body: jsonBody(videoCreationSchema),
      precedesFile: true,
      errors: ['live-stream-not-broadcasting'],
      success: { status: 201, ...shown },
      otherSuccess: {
        status: 202,
        description: 'The video. Its source is being fetched or copied.',
        when: ({ body }) => body.source !== undefined,
      },
      isAtomic: ({ body }) => body.source === undefined && body.watermark === undefined,
      handle: async ({ caller, body: { source, ...attributes } }) => {
        if (source !== undefined) requireWatchable(caller, source);
        const video =
          source === undefined
            ? await videos.create(caller.projectId, attributes)
            : await videos.createFrom(caller.projectId, source, attributes);
        return videos.view(video, { hidesPrivate: false });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}',
      summary: 'Get a video',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => videos.view(found, { hidesPrivate: false }),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      path: '/videos/{videoId}',
      summary: 'Change a video',
      description:
        'Attributes that you do not send keep their values. Making a private video public, and changing its `playbackPolicy`, also need the scope `read`.',
      ...one,
      body: jsonBody(videoChangesSchema),
      errors: ['summary-already-exists'],
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: async ({ found, body, caller }) => {
        requireWatchableBy(caller, found, body);
        return hidePrivateTokens(caller, await videos.change(found, body), 'assets');
      },
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/videos/{videoId}',
      summary: 'Delete a video',
      description:
        'The video is discarded: nobody can watch it, and you can restore it for `limits.videoRestoreDays` days (see `GET /account`). Then its files are deleted. They are deleted at once with `permanently`, and on servers without a trash.',
      ...one,
      query: videoDeletionQuerySchema,
      find: async ({ params, caller }) =>
        (await videos.find(caller.projectId, params.videoId)) ??
        (await videos.findDiscarded(caller.projectId, params.videoId)),
      success: { status: 204, description: 'The video is deleted.' },
      isAtomic: ({ query }) => videos.restoreDays > 0 && query.permanently !== 'true',
      handle: ({ found, query }) => videos.remove(found, { permanently: query.permanently === 'true' }),
    }),
  ];
}
