import { defineRoute, type Route } from '../../http/routing/route.ts';
import { usageSchema } from './usage.schema.ts';
import type { UsageService } from './usage.service.ts';

/** `/usage`: what the caller's project uses. */
export function usageRoutes(usage: UsageService): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/usage',
      tag: 'Usage',
      summary: 'Get what your project uses',
      description: 'Storage, traffic to viewers, and how many videos and live streams there are.',
      auth: 'key',
      success: { status: 200, description: 'What is used.', schema: usageSchema },
      handle: ({ caller }) => usage.of(caller),
    }),
  ];
}
