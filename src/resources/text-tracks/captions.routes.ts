import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import { nativeLanguageName } from '../../shared/text/language-tag.ts';
import {
  type CaptionView,
  captionChangesSchema,
  captionListSchema,
  captionSchema,
} from './captions.schema.ts';
import type { TextTrack } from './text-track.ts';
import {
  type TextTrackRequest,
  textTrackBody,
  textTrackList,
  textTrackParams,
} from './text-tracks.routes.ts';
import type { TextTracksService } from './text-tracks.service.ts';

/** The routes below `/videos/{videoId}/captions`. */
export function captionRoutes(captions: TextTracksService): Route[] {
  const one = {
    path: '/videos/{videoId}/captions/{language}',
    tag: 'Captions',
    auth: 'key',
    params: textTrackParams,
  } as const;
  const find = ({ params, caller }: TextTrackRequest) =>
    captions.find(captions.keyOf(caller.projectId, params.videoId, params.language));
  const success = { status: 200, description: 'The captions.', schema: captionSchema } as const;
  const view = (projectId: string, track: TextTrack) =>
    viewOf(track, captions.addressBase(projectId, track.videoId));

  return [
    defineRoute({
      ...textTrackList(captions, viewOf),
      path: '/videos/{videoId}/captions',
      tag: 'Captions',
      summary: 'List captions',
      success: { status: 200, description: 'A page of captions.', schema: captionListSchema },
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get captions',
      ...one,
      find,
      success,
      handle: ({ found }) => view(found.projectId, found.track),
    }),
    defineRoute({
      method: 'POST',
      summary: 'Upload captions',
      description: 'A file that is there for the language is replaced, and stays the default if it was.',
      ...one,
      find: ({ params, caller }: TextTrackRequest) =>
        captions.keyOf(caller.projectId, params.videoId, params.language),
      body: textTrackBody,
      errors: ['uploaded-file-empty', 'uploaded-file-invalid-file'],
      success,
      handle: async ({ found, body }) => view(found.projectId, await captions.put(found, body)),
    }),
    defineRoute({
      method: 'PATCH',
      summary: 'Change captions',
      description: 'At most one language of a video is the default: the one that was set last.',
      ...one,
      find,
      body: jsonBody(captionChangesSchema),
      success,
      handle: ({ found, body }) => view(found.projectId, captions.setDefault(found, body.default)),
    }),
    defineRoute({
      method: 'DELETE',
      summary: 'Delete captions',
      ...one,
      find,
      success: { status: 204, description: 'They are gone.' },
      handle: ({ found }) => captions.remove(found),
    }),
  ];
}

function viewOf({ videoId, language, isDefault }: TextTrack, base: string): CaptionView {
  return {
    uri: `/videos/${videoId}/captions/${language}`,
    src: `${base}/${language}.vtt`,
    srclang: language,
    languageName: nativeLanguageName(language),
    default: isDefault,
  };
}
