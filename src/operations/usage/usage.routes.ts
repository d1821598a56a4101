import { defineRoute, type Route } from '../../http/routing/route.ts';
import { usageSchema } from './usage.schema.ts';
import type { UsageService } from './usage.service.ts';

export function usageRoutes(usage: UsageService): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/usage',
      tag: 'Usage',
      summary: 'Get the usage of your project',
      description: 'Storage, traffic to viewers, and the numbers of videos and live streams.',
      auth: 'key',
      success: { status: 200, description: 'The usage.', schema: usageSchema },
      handle: ({ caller }) => usage.of(caller),
    }),
  ];
}
