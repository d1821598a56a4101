import type { z } from 'zod';
import type { Caller } from '../../http/routing/caller.ts';
import { pageOf } from '../../http/routing/pagination.ts';
import { fileBody } from '../../http/routing/route.ts';
import { languageTagPattern } from '../../shared/text/language-tag.ts';
import { textTracksQuerySchema } from './captions.schema.ts';
import { maxTextTrackBytes, type TextTrack } from './text-track.ts';
import type { TextTracksService } from './text-tracks.service.ts';

/** A request body of one WebVTT or SubRip file. */
export const textTrackBody = fileBody({
  maxBytes: maxTextTrackBytes,
  description:
    'A WebVTT file in UTF-8, or a SubRip file (`.srt`), which is converted to WebVTT. Anything else is refused with the number of the line at fault. The cues of WebVTT are not validated: what cannot be read does not show.',
  contentTypes: ['text/vtt', 'application/x-subrip'],
});

/** Sentences for the names in the paths of text tracks. */
export const textTrackParams = {
  videoId: 'Id of the video.',
  language: {
    description: 'Language tag, such as `fr` or `fr-CA`; case does not matter.',
    pattern: languageTagPattern,
  },
} as const;

/** A request whose path names a text track. */
export interface TextTrackRequest {
  readonly params: { readonly videoId: string; readonly language: string };
  readonly caller: Caller;
}

interface ListRequest {
  readonly params: { readonly videoId: string };
  readonly caller: Caller;
  readonly query: z.output<typeof textTracksQuerySchema>;
  readonly path: string;
  readonly queryText: string;
}

/**
 * What the routes that list the text tracks of a video have in common.
 *
 * @param viewOf a track as it is shown; `base` is the address of the folder of its file
 */
export function textTrackList<View>(
  tracks: TextTracksService,
  viewOf: (track: TextTrack, base: string) => View,
) {
  return {
    method: 'GET',
    description: 'In the order of their tags.',
    auth: 'key',
    params: { videoId: textTrackParams.videoId },
    query: textTracksQuerySchema,
    find: ({ params, caller }: Pick<ListRequest, 'params' | 'caller'>) =>
      tracks.hasVideo(caller.projectId, params.videoId) || undefined,
    handle: ({ caller: { projectId }, params: { videoId }, query, path, queryText }: ListRequest) => {
      const { tracks: found, total } = tracks.list(projectId, videoId, query);
      const base = tracks.addressBase(projectId, videoId);
      const views = found.map(track => viewOf(track, base));
      return pageOf({ path, queryText, query }, { items: views, total });
    },
  } as const;
}
