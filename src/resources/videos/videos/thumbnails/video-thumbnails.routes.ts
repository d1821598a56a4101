import * as z from 'zod';
import { imageBody, thumbnailImage } from '../../../../http/bodies/uploaded-image.ts';
import { projectResource } from '../../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../../http/routing/route.ts';
import { parseTimecode, timecodePattern } from '../../../../shared/text/timecode.ts';
import { type VideoView, videoSchema } from '../videos.schema.ts';
import { hidePrivateTokens } from '../watch-access.ts';
import type { ThumbnailVideos, VideoThumbnailsService } from './video-thumbnails.service.ts';

const thumbnailChangesSchema = z
  .strictObject({
    timecode: z
      .string()
      .refine(text => parseTimecode(text) !== undefined, {
        message: 'A timecode is HH:MM:SS, HH:MM:SS.mmm, HH:MM:SS:frames or whole seconds.',
      })
      .meta({ pattern: timecodePattern.source })
      .describe(
        '`HH:MM:SS`, `HH:MM:SS.mmm`, `HH:MM:SS:frames` or whole seconds. Beyond the end it counts as 0.',
      ),
  })
  .meta({ examples: [{ timecode: '00:01:12.50' }] });

export function videoThumbnailRoutes(
  thumbnails: VideoThumbnailsService<VideoView>,
  videos: Pick<ThumbnailVideos<VideoView>, 'find'>,
): Route[] {
  const one = {
    ...projectResource('Videos', ['videoId', 'Id of the video.'], (projectId, videoId) =>
      videos.find(projectId, videoId),
    ),
    path: '/videos/{videoId}/thumbnail',
    success: { status: 200, description: 'The video.', schema: videoSchema },
  } as const;

  return [
    defineRoute({
      method: 'POST',
      scope: 'upload',
      summary: 'Upload a thumbnail',
      description:
        'The image is shown until you pick a frame or upload another image. In the sandbox it becomes a JPEG of at most 1280 pixels a side, with the watermark.',
      ...one,
      body: imageBody(thumbnailImage, 'A JPEG, PNG or WebP image'),
      errors: ['images-busy'],
      handle: async ({ caller, params, body }) =>
        hidePrivateTokens(caller, await thumbnails.upload(caller, params.videoId, body), 'assets'),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      summary: 'Pick a frame as thumbnail',
      description:
        'The image changes some time after the response. For a video without media, the choice is kept until media arrives.',
      ...one,
      body: jsonBody(thumbnailChangesSchema),
      isAtomic: true,
      handle: async ({ caller, params, body }) => {
        const view = await thumbnails.pick(caller.projectId, params.videoId, body.timecode);
        return hidePrivateTokens(caller, view, 'assets');
      },
    }),
  ];
}
