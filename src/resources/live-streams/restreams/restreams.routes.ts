import type { Caller } from '../../../http/routing/caller.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import { redactServerUrl } from '../../../shared/network/redact-server-url.ts';
import { type RestreamView, restreamListSchema } from './restreams.schema.ts';

export interface RestreamReport {
  readonly name: string;
  readonly serverUrl: string;
  readonly state: 'connecting' | 'live' | 'retrying' | 'stopped' | 'disabled';
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  readonly bitrateBitsPerSecond: number;
  readonly droppedFrames: number;
  readonly retries: number;
}

interface RestreamSources {
  readonly configured: (
    projectId: string,
    liveStreamId: string,
  ) => readonly { readonly name: string; readonly serverUrl: string }[] | undefined;
  readonly running: (liveStreamId: string) => readonly RestreamReport[] | undefined;
}

export function restreamRoutes({ configured, running }: RestreamSources): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/restreams',
      tag: 'Live streams',
      summary: 'Get the state of restreams',
      description:
        'All destinations in the order of `restreams`; during a broadcast, those that it started with. Stream keys are not shown.',
      auth: 'key',
      params: { liveStreamId: 'Id of the live stream.' },
      find: ({ params, caller }: { params: { liveStreamId: string }; caller: Caller }) => {
        const restreams = configured(caller.projectId, params.liveStreamId);
        return restreams === undefined ? undefined : { restreams, liveStreamId: params.liveStreamId };
      },
      success: { status: 200, description: 'The destinations.', schema: restreamListSchema },
      handle: ({ found: { restreams, liveStreamId } }) => ({
        data:
          running(liveStreamId)?.map(viewOf) ??
          restreams.map(
            ({ name, serverUrl }): RestreamView => ({
              name,
              serverUrl: redactServerUrl(serverUrl),
              state: 'idle',
            }),
          ),
      }),
    }),
  ];
}

function viewOf({ sinceMs, reason, lastError, ...report }: RestreamReport): RestreamView {
  return {
    ...report,
    since: formatAtom(sinceMs),
    ...(reason === undefined ? {} : { reason }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}
