import type { AddressOf } from '../../../http/listener/client-address.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { liveStreamResource } from '../live-streams/live-streams.routes.ts';
import type { LiveStreamsService } from '../live-streams/live-streams.service.ts';
import {
  broadcastListSchema,
  broadcastsQuerySchema,
  healthHistoryQuerySchema,
  healthHistorySchema,
  ingestHealthSchema,
  ingestLogSchema,
} from './broadcasts.schema.ts';
import type { BroadcastsService } from './broadcasts.service.ts';

export function broadcastRoutes(
  broadcasts: BroadcastsService,
  liveStreams: Pick<LiveStreamsService, 'find'>,
  addressOf: AddressOf,
): Route[] {
  const one = liveStreamResource(liveStreams);

  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/broadcasts',
      summary: 'List broadcasts of a live stream',
      description: 'Broadcasts of the last 30 days, at most the newest 500.',
      ...one,
      query: broadcastsQuerySchema,
      success: { status: 200, description: 'A page of broadcasts.', schema: broadcastListSchema },
      handle: async request => {
        const { caller, found, query } = request;
        const sort = sortOf(query, 'startedAt');
        return pageOf(request, await broadcasts.list(caller.projectId, found.liveStreamId, sort, query));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/health',
      summary: 'Get the ingest health of a live stream',
      description:
        'The ingest statistics of the broadcast in progress, and its active alarms. The feed sends the same every second as `broadcast.stats`.',
      ...one,
      success: { status: 200, description: 'The ingest health.', schema: ingestHealthSchema },
      handle: ({ found }) => broadcasts.health(found.liveStreamId),
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/health/history',
      summary: 'Get the ingest health of the last minutes',
      description:
        'Covers the broadcast in progress, or the last one, which is kept for a day. The history is in memory: a restart of the server clears it.',
      ...one,
      query: healthHistoryQuerySchema,
      success: { status: 200, description: 'The history.', schema: healthHistorySchema },
      handle: ({ found, query }) => broadcasts.healthHistory(found.liveStreamId, query.minutes),
    }),
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/ingest-log',
      summary: 'Get what happened at the ingest of a live stream',
      description:
        'Connections of encoders, why some were refused, and alarms, of the last 24 hours. An encoder with an unknown stream key is listed for ten minutes, to callers from its own network and while no other is connected. The log is in memory: a restart of the server clears it, and each server of a cluster has its own.',
      ...one,
      success: { status: 200, description: 'The log.', schema: ingestLogSchema },
      handle: ({ found, caller, incoming }) =>
        broadcasts.ingestLog(found.liveStreamId, addressOf(incoming), caller.scopes.has('live')),
    }),
  ];
}
