import { imageBody, thumbnailImage } from '../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { mapList } from '../../../shared/list-page.ts';
import { type LiveStreamView, withoutSecrets } from './live-stream-view.ts';
import {
  liveStreamChangesSchema,
  liveStreamCreationSchema,
  liveStreamListSchema,
  liveStreamSchema,
  liveStreamsQuerySchema,
} from './live-streams.schema.ts';
import type { LiveStreamsService } from './live-streams.service.ts';

export function liveStreamResource(liveStreams: Pick<LiveStreamsService, 'find'>) {
  return projectResource('Live streams', ['liveStreamId', 'Id of the live stream.'], (projectId, id) =>
    liveStreams.find(projectId, id),
  );
}

export function liveStreamRoutes(liveStreams: LiveStreamsService): Route[] {
  const all = { path: '/live-streams', tag: 'Live streams', auth: 'key' } as const;
  const one = liveStreamResource(liveStreams);
  const shown = { description: 'The live stream.', schema: liveStreamSchema };

  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'List live streams',
      query: liveStreamsQuerySchema,
      success: { status: 200, description: 'A page of live streams.', schema: liveStreamListSchema },
      handle: async request => {
        const { caller, query } = request;
        const sort = sortOf(query, 'createdAt');
        const found = await liveStreams.list(caller.projectId, query, sort, query);
        return pageOf(
          request,
          mapList(found, view => viewFor(caller, view)),
        );
      },
    }),
    defineRoute({
      method: 'POST',
      scope: 'live',
      ...all,
      summary: 'Create a live stream',
      body: jsonBody(liveStreamCreationSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: ({ caller, body }) => liveStreams.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}',
      summary: 'Get a live stream',
      ...one,
      success: { status: 200, ...shown },
      handle: async ({ found, caller }) => viewFor(caller, await liveStreams.viewWithActivity(found)),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'live',
      path: '/live-streams/{liveStreamId}',
      summary: 'Change a live stream',
      description:
        'Attributes that you do not send keep their values. `restreams` applies to a running broadcast at once.',
      ...one,
      body: jsonBody(liveStreamChangesSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: ({ found, body }) => liveStreams.change(found, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'live',
      path: '/live-streams/{liveStreamId}',
      summary: 'Delete a live stream',
      description: 'Ends a running broadcast.',
      ...one,
      success: { status: 204, description: 'The live stream is deleted.' },
      handle: ({ found }) => liveStreams.remove(found),
    }),
    defineRoute({
      method: 'PUT',
      scope: 'live',
      path: '/live-streams/{liveStreamId}/complete',
      summary: 'Complete the broadcast',
      description:
        'Ends the running broadcast within seconds and disconnects its encoder, which is refused until it has stayed away for a minute. An encoder that had left before may publish at once. Does nothing when there is no broadcast.',
      ...one,
      success: { status: 202, description: 'The broadcast will end.' },
      handle: ({ found }) => liveStreams.complete(found),
    }),
    defineRoute({
      method: 'PUT',
      scope: 'live',
      path: '/live-streams/{liveStreamId}/allow-again',
      summary: 'Allow the encoder again',
      action: 'live-stream.encoder.allow',
      description:
        'The encoder that was disconnected by `complete` may publish at once. Does nothing when none is refused.',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => liveStreams.allowAgain(found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'live',
      path: '/live-streams/{liveStreamId}/stream-key',
      summary: 'Regenerate the stream key',
      action: 'live-stream.stream-key.regenerate',
      description:
        'The old key can no longer publish or reconnect. A connected encoder keeps publishing until it disconnects or you complete the broadcast.',
      ...one,
      success: { status: 200, description: 'The live stream, with its new key.', schema: liveStreamSchema },
      isAtomic: true,
      handle: ({ found }) => liveStreams.regenerateKey(found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'live',
      path: '/live-streams/{liveStreamId}/thumbnail',
      summary: 'Upload a thumbnail',
      description: 'In the sandbox it becomes a JPEG of at most 1280 pixels a side, with the watermark.',
      ...one,
      body: imageBody(thumbnailImage, 'A JPEG, PNG or WebP image'),
      errors: ['images-busy'],
      success: { status: 201, ...shown },
      handle: ({ found, body, caller }) => liveStreams.setThumbnail(found, body, caller),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'live',
      path: '/live-streams/{liveStreamId}/thumbnail',
      summary: 'Delete the thumbnail',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => liveStreams.removeThumbnail(found),
    }),
  ];
}

function viewFor({ scopes }: Caller, view: LiveStreamView): LiveStreamView {
  return scopes.has('live') ? view : withoutSecrets(view);
}
