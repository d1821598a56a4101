import { imageBody } from '../../../http/bodies/uploaded-image.ts';
import { fileLinkQuery } from '../../../http/routing/file-link.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  watermarkChangesSchema,
  watermarkListSchema,
  watermarkSchema,
  watermarksQuerySchema,
} from './watermarks.schema.ts';
import { type WatermarksService, watermarkImage } from './watermarks.service.ts';

export function watermarkRoutes(watermarks: WatermarksService): Route[] {
  const all = { path: '/watermarks', tag: 'Watermarks', auth: 'key' } as const;
  const one = projectResource('Watermarks', ['watermarkId', 'Id of the watermark.'], (projectId, id) =>
    watermarks.find(projectId, id),
  );
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List watermarks',
      query: watermarksQuerySchema,
      success: { status: 200, description: 'A page of watermarks.', schema: watermarkListSchema },
      handle: async request =>
        pageOf(
          request,
          await watermarks.list(request.caller.projectId, sortOf(request.query, 'createdAt'), request.query),
        ),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      ...all,
      summary: 'Upload a watermark',
      description:
        'An image to burn into videos: send its id when you create a video. Transparent parts of a PNG stay transparent.',
      body: {
        ...imageBody(watermarkImage, 'A JPEG or PNG image'),
        fields: { name: 'Your name for the watermark, of at most 100 characters.' },
      },
      errors: ['images-busy'],
      success: { status: 200, description: 'The watermark.', schema: watermarkSchema },
      handle: ({ caller, body }) => watermarks.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/watermarks/{watermarkId}/image',
      summary: 'Get the image of a watermark',
      description: 'The file as you uploaded it.',
      ...one,
      query: fileLinkQuery,
      success: { status: 200, description: 'The image.', fileTypes: watermarkImage.types },
      handle: ({ found }) => watermarks.image(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      path: '/watermarks/{watermarkId}',
      summary: 'Rename a watermark',
      description: 'Changes nothing about videos that were created with it.',
      ...one,
      body: jsonBody(watermarkChangesSchema),
      success: { status: 200, description: 'The watermark.', schema: watermarkSchema },
      handle: ({ found, body }) => watermarks.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/watermarks/{watermarkId}',
      summary: 'Delete a watermark',
      description: 'Videos that were created with it keep it, even while they wait to be encoded.',
      ...one,
      success: { status: 204, description: 'The watermark is deleted.' },
      handle: ({ found }) => watermarks.remove(found),
    }),
  ];
}
