import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { retentionChangesSchema, retentionSchema } from './retention.schema.ts';
import type { RetentionService } from './retention.service.ts';

export function retentionRoutes(retention: RetentionService): Route[] {
  const all = { path: '/account/retention', tag: 'Account', auth: 'key' } as const;
  const success = { status: 200, description: 'The retention.', schema: retentionSchema } as const;
  return [
    defineRoute({
      method: 'GET',
      ...all,
      summary: 'Get the retention of videos',
      success,
      handle: ({ caller }) => retention.view(caller.projectId),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      ...all,
      summary: 'Change the retention of videos',
      description:
        'For all videos of the environment. A video with its own `expiresAt` and the recordings of a live stream with its own `keepRecordingsDays` follow that. Expired videos are discarded, or deleted at once on servers without a trash.',
      body: jsonBody(retentionChangesSchema),
      success,
      isAtomic: ({ body }) => body.applyToExisting !== true,
      handle: ({ caller, body }) => retention.change(caller.projectId, body),
    }),
  ];
}
