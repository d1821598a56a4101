import { defineRoute, type Route } from '../../http/routing/route.ts';
import { type ChapterView, chapterListSchema, chapterSchema } from './chapters.schema.ts';
import type { TextTrack } from './text-track.ts';
import {
  type TextTrackRequest,
  textTrackBody,
  textTrackList,
  textTrackParams,
} from './text-tracks.routes.ts';
import type { TextTracksService } from './text-tracks.service.ts';

/** The routes below `/videos/{videoId}/chapters`. A tag that is none is refused where a file is sent, and not found elsewhere. */
export function chapterRoutes(chapters: TextTracksService): Route[] {
  const one = {
    path: '/videos/{videoId}/chapters/{language}',
    tag: 'Chapters',
    auth: 'key',
    params: textTrackParams,
  } as const;
  const find = ({ params, caller }: TextTrackRequest) =>
    chapters.findByTag(caller.projectId, params.videoId, params.language);
  const success = { status: 200, description: 'The chapters.', schema: chapterSchema } as const;
  const view = (projectId: string, track: TextTrack) =>
    viewOf(track, chapters.addressBase(projectId, track.videoId));

  return [
    defineRoute({
      ...textTrackList(chapters, viewOf),
      path: '/videos/{videoId}/chapters',
      tag: 'Chapters',
      summary: 'List chapters',
      success: { status: 200, description: 'A page of chapters.', schema: chapterListSchema },
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get chapters',
      ...one,
      find,
      success,
      handle: ({ found }) => view(found.projectId, found.track),
    }),
    defineRoute({
      method: 'POST',
      summary: 'Upload chapters',
      description:
        'A file that is there for the language is replaced. Each cue names the chapter that begins with it.',
      ...one,
      find: ({ params, caller }: TextTrackRequest) =>
        chapters.keyOf(caller.projectId, params.videoId, params.language),
      body: textTrackBody,
      errors: ['uploaded-file-empty', 'uploaded-file-invalid-file'],
      success,
      handle: async ({ found, body }) => view(found.projectId, await chapters.put(found, body)),
    }),
    defineRoute({
      method: 'DELETE',
      summary: 'Delete chapters',
      ...one,
      find,
      success: { status: 204, description: 'They are gone.' },
      handle: ({ found }) => chapters.remove(found),
    }),
  ];
}

function viewOf({ videoId, language }: TextTrack, base: string): ChapterView {
  return {
    uri: `/videos/${videoId}/chapters/${language}`,
    src: `${base}/${language}.vtt`,
    language,
  };
}
