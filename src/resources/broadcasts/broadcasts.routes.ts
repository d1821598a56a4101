import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { liveStreamRoute } from '../live-streams/live-stream-route.ts';
import type { LiveStreamsService } from '../live-streams/live-streams.service.ts';
import {
  broadcastListSchema,
  broadcastsQuerySchema,
  healthHistoryQuerySchema,
  healthHistorySchema,
  ingestHealthSchema,
} from './broadcasts.schema.ts';
import type { BroadcastsService } from './broadcasts.service.ts';

/** The routes that tell of the broadcasts of a live stream. */
export function broadcastRoutes(
  broadcasts: BroadcastsService,
  liveStreams: Pick<LiveStreamsService, 'find'>,
): Route[] {
  const one = liveStreamRoute(liveStreams);

  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/broadcasts',
      summary: 'List broadcasts of a live stream',
      description: 'Those of the last 30 days, and of more than 500 the newest.',
      ...one,
      query: broadcastsQuerySchema,
      success: { status: 200, description: 'A page of broadcasts.', schema: broadcastListSchema },
      handle: ({ caller, found, query, path, queryText }) => {
        const { direction } = sortOf(query, 'startedAt');
        const { views, total } = broadcasts.list(caller.projectId, found.liveStreamId, direction, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/health',
      summary: 'Get the ingest health of a live stream',
      description:
        'How what it broadcasts now comes in, and which alarms are on. The feed tells the same each second as `broadcast.stats`.',
      ...one,
      success: { status: 200, description: 'How it does.', schema: ingestHealthSchema },
      handle: ({ found }) => broadcasts.health(found.liveStreamId),
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/health/history',
      summary: 'Get the ingest health of the last minutes',
      description:
        'Of the broadcast in progress, or else of the last one, which is kept for a day. The history is in memory: a restart of the server clears it.',
      ...one,
      query: healthHistoryQuerySchema,
      success: { status: 200, description: 'The history.', schema: healthHistorySchema },
      handle: ({ found, query }) => broadcasts.healthHistory(found.liveStreamId, query.minutes),
    }),
  ];
}
