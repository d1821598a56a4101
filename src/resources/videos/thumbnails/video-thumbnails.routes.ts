import { z } from 'zod';
import { imageBody, thumbnailImage } from '../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { parseTimecode } from '../../../shared/text/timecode.ts';
import { type VideoView, videoSchema } from '../videos.schema.ts';
import type { ThumbnailVideos, VideoThumbnailsService } from './video-thumbnails.service.ts';

/** Body of `PATCH /videos/{videoId}/thumbnail`. */
export const thumbnailChangesSchema = z
  .strictObject({
    timecode: z
      .string()
      .refine(text => parseTimecode(text) !== undefined, {
        message: 'A timecode is HH:MM:SS, HH:MM:SS.mmm, HH:MM:SS:frames or whole seconds.',
      })
      .describe('`HH:MM:SS`, `HH:MM:SS.mmm`, `HH:MM:SS:frames` or whole seconds; 0 beyond the end.'),
  })
  .meta({ examples: [{ timecode: '00:01:12.50' }] });

/** The routes of `/videos/{videoId}/thumbnail`. */
export function videoThumbnailRoutes(
  thumbnails: VideoThumbnailsService<VideoView>,
  videos: Pick<ThumbnailVideos<VideoView>, 'find'>,
): Route[] {
  const one = {
    path: '/videos/{videoId}/thumbnail',
    tag: 'Videos',
    auth: 'key',
    params: { videoId: 'Id of the video.' },
    find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
      videos.find(caller.projectId, params.videoId),
    success: { status: 200, description: 'The video.', schema: videoSchema },
  } as const;

  return [
    defineRoute({
      method: 'POST',
      summary: 'Upload a thumbnail',
      description:
        'It is shown until a timecode is set, or another image uploaded. In the sandbox it is made a JPEG of at most 1280 pixels a side, with the watermark.',
      ...one,
      body: imageBody(thumbnailImage, 'A JPEG, PNG or WebP image'),
      errors: ['images-busy'],
      handle: ({ caller, params, body }) => thumbnails.upload(caller, params.videoId, body),
    }),
    defineRoute({
      method: 'PATCH',
      summary: 'Pick a frame as thumbnail',
      description:
        'The image changes some time after the answer. Of a video without media it is remembered until there is some.',
      ...one,
      body: jsonBody(thumbnailChangesSchema),
      handle: ({ caller, params, body }) => thumbnails.pick(caller.projectId, params.videoId, body.timecode),
    }),
  ];
}
