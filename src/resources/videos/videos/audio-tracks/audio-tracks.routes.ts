import type { Caller } from '../../../../http/routing/caller.ts';
import { pageOf } from '../../../../http/routing/pagination.ts';
import { notFoundError } from '../../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../../http/routing/route.ts';
import {
  audioTrackChangesSchema,
  audioTrackListSchema,
  audioTrackSchema,
  audioTracksQuerySchema,
} from './audio-tracks.schema.ts';
import type { AudioTracksService } from './audio-tracks.service.ts';

interface VideoRequest {
  readonly params: { readonly videoId: string };
  readonly caller: Caller;
}

interface TrackRequest extends VideoRequest {
  readonly params: { readonly videoId: string; readonly audioTrackId: string };
}

const tag = 'Audio tracks';
const videoId = 'Id of the video.';

export function audioTrackRoutes(tracks: AudioTracksService): Route[] {
  const one = {
    path: '/videos/{videoId}/audio-tracks/{audioTrackId}',
    tag,
    auth: 'key',
    params: { videoId, audioTrackId: 'Id of the audio track.' },
    find: async ({ params, caller }: TrackRequest) => {
      if (!(await tracks.hasVideo(caller.projectId, params.videoId))) throw notFoundError('videoId');
      return tracks.find(params.videoId, params.audioTrackId);
    },
  } as const;
  const success = { status: 200, description: 'The audio track.', schema: audioTrackSchema } as const;
  return [
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}/audio-tracks',
      tag,
      auth: 'key',
      summary: 'List audio tracks',
      description: 'In the order of menus. Empty until the source was read, and for videos without audio.',
      params: { videoId },
      query: audioTracksQuerySchema,
      success: { status: 200, description: 'A page of audio tracks.', schema: audioTrackListSchema },
      find: async ({ params, caller }: VideoRequest) =>
        (await tracks.hasVideo(caller.projectId, params.videoId)) || undefined,
      handle: async request => pageOf(request, await tracks.list(request.params.videoId, request.query)),
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get an audio track',
      ...one,
      success,
      handle: async ({ found }) => found,
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      summary: 'Change an audio track',
      description:
        'Players get the changes when they next load the video. The MP4 file keeps the names that it was made with.',
      ...one,
      body: jsonBody(audioTrackChangesSchema),
      success,
      isAtomic: true,
      handle: ({ params, caller, body }) =>
        tracks.change(caller.projectId, params.videoId, params.audioTrackId, body),
    }),
  ];
}
