import type { Caller } from '../../http/caller.ts';
import { pageOf } from '../../http/pagination.ts';
import { defineRoute, fileBody, jsonBody, type Route } from '../../http/route.ts';
import { nativeLanguageName } from '../../shared/language-tag.ts';
import {
  type CaptionView,
  captionChangesSchema,
  captionListSchema,
  captionSchema,
  textTracksQuerySchema,
} from './captions.schema.ts';
import { type TextTrack, textTrackBytesMax } from './text-track.ts';
import type { TextTracksService } from './text-tracks.service.ts';

/** A request body of one WebVTT file. */
export const textTrackBody = fileBody({
  bytesMax: textTrackBytesMax,
  description: 'A WebVTT file in UTF-8. It is not looked into: what cannot be read does not show.',
  contentTypes: ['text/vtt'],
});

/** Sentences for the names in the paths of text tracks. */
export const textTrackParams = {
  videoId: 'Id of the video.',
  language: 'Language tag, such as `fr` or `fr-CA`; case does not matter.',
} as const;

type Named = { params: { videoId: string; language: string }; caller: Caller };

/** The routes below `/videos/{videoId}/captions`. */
export function captionRoutes(captions: TextTracksService): Route[] {
  const one = {
    path: '/videos/{videoId}/captions/{language}',
    tag: 'Captions',
    auth: 'key',
    params: textTrackParams,
  } as const;
  const find = ({ params, caller }: Named) =>
    captions.find(captions.place(caller.projectId, params.videoId, params.language));
  const success = { status: 200, description: 'The captions.', schema: captionSchema } as const;
  const view = (projectId: string, track: TextTrack) =>
    viewOf(track, captions.addressBase(projectId, track.videoId));

  return [
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}/captions',
      tag: 'Captions',
      summary: 'List captions',
      description: 'In the order of their tags.',
      auth: 'key',
      params: { videoId: textTrackParams.videoId },
      query: textTracksQuerySchema,
      find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
        captions.hasVideo(caller.projectId, params.videoId) || undefined,
      success: { status: 200, description: 'A page of captions.', schema: captionListSchema },
      handle: ({ caller: { projectId }, params: { videoId }, query, path, queryText }) => {
        const { tracks, total } = captions.list(projectId, videoId, query);
        const base = captions.addressBase(projectId, videoId);
        return pageOf(
          { path, queryText },
          query,
          total,
          tracks.map(track => viewOf(track, base)),
        );
      },
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
      find: ({ params, caller }: Named) => captions.place(caller.projectId, params.videoId, params.language),
      body: textTrackBody,
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
