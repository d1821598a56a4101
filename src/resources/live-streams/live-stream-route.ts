import type { Caller } from '../../http/routing/caller.ts';
import type { LiveStreamsService } from './live-streams.service.ts';

/** What all routes below `/live-streams/{liveStreamId}` have in common: they are of one live stream of the caller's project. */
export function liveStreamRoute(liveStreams: Pick<LiveStreamsService, 'find'>) {
  return {
    tag: 'Live streams',
    auth: 'key',
    params: { liveStreamId: 'Id of the live stream.' },
    find: ({ params, caller }: { params: { liveStreamId: string }; caller: Caller }) =>
      liveStreams.find(caller.projectId, params.liveStreamId),
  } as const;
}
