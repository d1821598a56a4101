import { imageBody, thumbnailImage } from '../../http/bodies/uploaded-image.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import { liveStreamRoute } from './live-stream-route.ts';
import {
  liveStreamChangesSchema,
  liveStreamCreationSchema,
  liveStreamListSchema,
  liveStreamSchema,
  liveStreamsQuerySchema,
} from './live-streams.schema.ts';
import type { LiveStreamsService } from './live-streams.service.ts';

/** The routes below `/live-streams`. */
export function liveStreamRoutes(liveStreams: LiveStreamsService): Route[] {
  const one = liveStreamRoute(liveStreams);
  const shown = { description: 'The live stream.', schema: liveStreamSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams',
      tag: 'Live streams',
      summary: 'List live streams',
      auth: 'key',
      query: liveStreamsQuerySchema,
      success: { status: 200, description: 'A page of live streams.', schema: liveStreamListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { views, total } = liveStreams.list(caller.projectId, query, sortOf(query, 'createdAt'), query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/live-streams',
      tag: 'Live streams',
      summary: 'Create a live stream',
      auth: 'key',
      body: jsonBody(liveStreamCreationSchema),
      success: { status: 200, ...shown },
      handle: ({ caller, body }) => liveStreams.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}',
      summary: 'Get a live stream',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => liveStreams.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/live-streams/{liveStreamId}',
      summary: 'Change a live stream',
      description: 'What is not sent stays. Restreams of a running broadcast change with its next start.',
      ...one,
      body: jsonBody(liveStreamChangesSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => liveStreams.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/live-streams/{liveStreamId}',
      summary: 'Delete a live stream',
      description: 'A running broadcast is ended.',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => liveStreams.remove(found),
    }),
    defineRoute({
      method: 'PUT',
      path: '/live-streams/{liveStreamId}/complete',
      summary: 'Complete the broadcast',
      description: 'The broadcast ends within seconds. Does nothing when there is none.',
      ...one,
      success: { status: 202, description: 'It will end.' },
      handle: ({ found }) => liveStreams.complete(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/live-streams/{liveStreamId}/stream-key',
      summary: 'Regenerate the stream key',
      description:
        'With the old key nobody can publish any more, or come back to a running broadcast. An encoder that is connected goes on until it disconnects or the broadcast is completed.',
      ...one,
      success: { status: 200, description: 'The live stream, with its new key.', schema: liveStreamSchema },
      handle: ({ found }) => liveStreams.regenerateKey(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/live-streams/{liveStreamId}/thumbnail',
      summary: 'Upload a thumbnail',
      description: 'In the sandbox it is made a JPEG of at most 1280 pixels a side, with the watermark.',
      ...one,
      body: imageBody(thumbnailImage, 'A JPEG, PNG or WebP image'),
      errors: ['images-busy'],
      success: { status: 201, ...shown },
      handle: ({ found, body, caller }) => liveStreams.setThumbnail(found, body, caller),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/live-streams/{liveStreamId}/thumbnail',
      summary: 'Delete the thumbnail',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => liveStreams.removeThumbnail(found),
    }),
  ];
}
