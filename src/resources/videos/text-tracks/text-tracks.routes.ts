import type { z } from 'zod';
import type { Caller } from '../../../http/routing/caller.ts';
import { type Page, pageOf } from '../../../http/routing/pagination.ts';
import { defineRoute, fileBody, jsonBody, type Route } from '../../../http/routing/route.ts';
import { maxTextTrackBytes } from '../../../shared/limits/resource-limits.ts';
import { mapList } from '../../../shared/list-page.ts';
import { languageTagPattern, nativeLanguageName } from '../../../shared/text/language-tag.ts';
import { hidePrivateTokens } from '../videos/watch-access.ts';
import type { TextTrack, TextTrackKind } from './text-track.ts';
import {
  captionChangesSchema,
  captionListSchema,
  captionSchema,
  chapterListSchema,
  chapterSchema,
  textTracksQuerySchema,
} from './text-tracks.schema.ts';
import type { TextTracksService } from './text-tracks.service.ts';

type TextTrackView = z.input<typeof captionSchema> | z.input<typeof chapterSchema>;

interface TextTrackRequest {
  readonly params: { readonly videoId: string; readonly language: string };
  readonly caller: Caller;
}

interface KindRoutes {
  readonly tag: string;
  readonly schema: z.ZodType<TextTrackView, TextTrackView>;
  readonly listSchema: z.ZodType<Page<TextTrackView>, Page<TextTrackView>>;
  readonly uploadDescription: string;
  readonly hasDefault: boolean;
  /** An invalid language tag answers 400 for every method; otherwise 404, except for uploads. */
  readonly validatesTag: boolean;
  readonly attributes: (track: TextTrack) => Omit<TextTrackView, 'uri' | 'src' | 'warnings'>;
}

const kinds: Readonly<Record<TextTrackKind, KindRoutes>> = {
  captions: {
    tag: 'Captions',
    schema: captionSchema,
    listSchema: captionListSchema,
    uploadDescription: 'Replaces the file of the language. Captions that are the default stay the default.',
    hasDefault: true,
    validatesTag: true,
    attributes: ({ language, isDefault, isGenerated }: TextTrack) => ({
      srclang: language,
      languageName: nativeLanguageName(language),
      default: isDefault,
      ...(isGenerated ? { generated: true } : {}),
    }),
  },
  chapters: {
    tag: 'Chapters',
    schema: chapterSchema,
    listSchema: chapterListSchema,
    uploadDescription: 'Replaces the file of the language. Each cue names the chapter that begins with it.',
    hasDefault: false,
    validatesTag: false,
    attributes: ({ language }: TextTrack) => ({ language }),
  },
};

const body = fileBody({
  maxBytes: maxTextTrackBytes,
  description:
    'A WebVTT file, or a SubRip file (`.srt`), which is converted to WebVTT. Both are read leniently, in UTF-8, UTF-16 or the usual encoding of the language: `warnings` says what was mended. Only files without any cue are refused, unless they begin with `WEBVTT`.',
  contentTypes: ['text/vtt', 'application/x-subrip'],
});

const params = {
  videoId: 'Id of the video.',
  language: {
    description: 'Language tag, such as `fr` or `fr-CA`; case does not matter.',
    pattern: languageTagPattern,
  },
} as const;

export function textTrackRoutes(tracks: TextTracksService): Route[] {
  const kind: TextTrackKind = tracks.kind;
  const { tag, schema, listSchema, uploadDescription, hasDefault, validatesTag, attributes } = kinds[kind];
  const viewAt = (base: string) => (track: TextTrack) =>
    ({
      uri: `/videos/${track.videoId}/${kind}/${track.language}`,
      src: `${base}/${track.language}.vtt`,
      ...attributes(track),
      ...(track.warnings?.length ? { warnings: track.warnings } : {}),
    }) as TextTrackView;
  const view = async (projectId: string, track: TextTrack) =>
    viewAt(await tracks.baseUrl(projectId, track.videoId))(track);
  const key = ({ params, caller }: TextTrackRequest) =>
    tracks.keyOf(caller.projectId, params.videoId, params.language);
  const one = {
    path: `/videos/{videoId}/${kind}/{language}`,
    tag,
    auth: 'key',
    params,
    find: async (request: TextTrackRequest) =>
      validatesTag
        ? tracks.find(await key(request))
        : tracks.findByTag(request.caller.projectId, request.params.videoId, request.params.language),
  } as const;
  const success = { status: 200, description: `The ${kind}.`, schema } as const;

  const routes = [
    defineRoute({
      method: 'GET',
      path: `/videos/{videoId}/${kind}`,
      tag,
      auth: 'key',
      summary: `List ${kind}`,
      description: 'Sorted by language tag.',
      params: { videoId: params.videoId },
      query: textTracksQuerySchema,
      success: { status: 200, description: `A page of ${kind}.`, schema: listSchema },
      find: async ({ params, caller }: { params: { readonly videoId: string }; caller: Caller }) =>
        (await tracks.hasVideo(caller.projectId, params.videoId)) || undefined,
      handle: async request => {
        const { projectId } = request.caller;
        const { videoId } = request.params;
        const list = await tracks.list(projectId, videoId, request.query);
        return pageOf(request, mapList(list, viewAt(await tracks.baseUrl(projectId, videoId))));
      },
    }),
    defineRoute({
      method: 'GET',
      summary: `Get ${kind}`,
      ...one,
      success,
      handle: ({ found }) => view(found.projectId, found.track),
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      summary: `Upload ${kind}`,
      description: uploadDescription,
      ...one,
      find: key,
      body,
      errors: ['uploaded-file-empty', 'uploaded-file-invalid-file'],
      success,
      handle: async ({ found, body, caller }) =>
        hidePrivateTokens(caller, await view(found.projectId, await tracks.put(found, body)), 'src'),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      summary: `Delete ${kind}`,
      ...one,
      success: { status: 204, description: `The ${kind} are deleted.` },
      handle: ({ found }) => tracks.remove(found),
    }),
  ];
  if (!hasDefault) return routes;
  const change = defineRoute({
    method: 'PATCH',
    scope: 'upload',
    summary: `Change ${kind}`,
    description: 'At most one language of a video is the default: the one that you set last.',
    ...one,
    body: jsonBody(captionChangesSchema),
    success,
    isAtomic: true,
    handle: async ({ found, body, caller }) =>
      hidePrivateTokens(
        caller,
        await view(found.projectId, await tracks.setDefault(found, body.default)),
        'src',
      ),
  });
  return routes.toSpliced(-1, 0, change);
}
