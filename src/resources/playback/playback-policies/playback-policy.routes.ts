import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { projectPolicyChangesSchema, projectPolicySchema } from './playback-policy.schema.ts';
import type { PlaybackPolicyStore } from './playback-policy.store.ts';

export function playbackPolicyRoutes(store: PlaybackPolicyStore): Route[] {
  const all = { path: '/account/playback-policy', tag: 'Account', auth: 'key' } as const;
  const success = { status: 200, description: 'The playback policy.', schema: projectPolicySchema } as const;
  const view = async (projectId: string) => ({ playbackPolicy: (await store.find(projectId)) ?? null });
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'Get the playback policy',
      success,
      handle: ({ caller }) => view(caller.projectId),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      ...all,
      summary: 'Change the playback policy',
      description:
        'For all videos and live streams of the environment that have no `playbackPolicy` of their own. Applies within about a second.',
      body: jsonBody(projectPolicyChangesSchema),
      success,
      isAtomic: true,
      handle: async ({ caller, body }) => {
        if (body.playbackPolicy !== undefined) await store.change(caller.projectId, body.playbackPolicy);
        return view(caller.projectId);
      },
    }),
  ];
}
