import { imageBody } from '../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { watermarkListSchema, watermarkSchema, watermarksQuerySchema } from './watermarks.schema.ts';
import { type WatermarksService, watermarkImage } from './watermarks.service.ts';

/** The routes below `/watermarks`. */
export function watermarkRoutes(watermarks: WatermarksService): Route[] {
  const one = {
    tag: 'Watermarks',
    auth: 'key',
    params: { watermarkId: 'Id of the watermark.' },
    find: ({ params, caller }: { params: { watermarkId: string }; caller: Caller }) =>
      watermarks.find(caller.projectId, params.watermarkId),
  } as const;
  return [
    defineRoute({
      method: 'GET',
      path: '/watermarks',
      tag: 'Watermarks',
      summary: 'List watermarks',
      auth: 'key',
      query: watermarksQuerySchema,
      success: { status: 200, description: 'A page of watermarks.', schema: watermarkListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { direction } = sortOf(query, 'createdAt');
        const { views, total } = watermarks.list(caller.projectId, direction, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/watermarks',
      tag: 'Watermarks',
      summary: 'Upload a watermark',
      description: 'An image to burn into videos, named when a video is created.',
      auth: 'key',
      body: imageBody(watermarkImage, 'A JPEG or PNG image; what is transparent in a PNG stays so'),
      errors: ['images-busy'],
      success: { status: 200, description: 'The watermark.', schema: watermarkSchema },
      handle: ({ caller, body }) => watermarks.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/watermarks/{watermarkId}/image',
      summary: 'Get the image of a watermark',
      description: 'The file as it was uploaded.',
      ...one,
      success: { status: 200, description: 'The image.', fileTypes: watermarkImage.types },
      handle: ({ found }) => watermarks.image(found),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/watermarks/{watermarkId}',
      summary: 'Delete a watermark',
      description: 'Videos that were created with it keep it, those that wait for their encoding too.',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => watermarks.remove(found),
    }),
  ];
}
