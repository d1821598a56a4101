import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import type { CaptionGeneration } from '../videos/transcripts/caption-generation.ts';
import {
  type VideoDefaultsView,
  videoDefaultsChangesSchema,
  videoDefaultsSchema,
} from './video-defaults.schema.ts';
import type { VideoDefaultsStore } from './video-defaults.store.ts';

export function videoDefaultsRoutes(
  store: VideoDefaultsStore,
  captionGeneration: Pick<CaptionGeneration, 'check' | 'available'>,
): Route[] {
  const all = { path: '/account/video-defaults', tag: 'Account', auth: 'key' } as const;
  const success = { status: 200, description: 'The defaults.', schema: videoDefaultsSchema } as const;
  const view = async (projectId: string): Promise<VideoDefaultsView> => ({
    ...(await store.find(projectId)),
    available: captionGeneration.available,
  });
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'Get the defaults of new videos',
      success,
      handle: ({ caller }) => view(caller.projectId),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      ...all,
      summary: 'Change the defaults of new videos',
      description:
        'For new uploads, imports and recordings of the environment. A video that is created with `transcript` or `transcriptSummary` follows that. Clips get what you request.',
      body: jsonBody(videoDefaultsChangesSchema),
      success,
      isAtomic: true,
      handle: async ({ caller, body }) => {
        captionGeneration.check(body);
        await store.change(caller.projectId, body);
        return view(caller.projectId);
      },
    }),
  ];
}
