import type { Caller } from '../../../http/routing/caller.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import { redactServerUrl } from '../../../shared/network/redact-server-url.ts';
import { type RestreamView, restreamListSchema } from './restreams.schema.ts';

/** How a destination does, as the rest of the server tells it. */
export interface RestreamReport {
  readonly name: string;
  readonly serverUrl: string;
  readonly state: 'connecting' | 'live' | 'retrying' | 'stopped';
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  readonly bitrateBitsPerSecond: number;
  readonly droppedFrames: number;
  readonly retries: number;
}

/** Where the destinations of a live stream are asked for. */
export interface RestreamSources {
  /** The destinations that are set; undefined for a live stream that the project does not have. */
  readonly configured: (
    projectId: string,
    liveStreamId: string,
  ) => readonly { readonly name: string; readonly serverUrl: string }[] | undefined;
  /** Those of what it broadcasts now; undefined when it does not. */
  readonly running: (liveStreamId: string) => readonly RestreamReport[] | undefined;
}

/** `GET /live-streams/{liveStreamId}/restreams`: how the destinations of a live stream do. */
export function restreamRoutes({ configured, running }: RestreamSources): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/restreams',
      tag: 'Live streams',
      summary: 'Show how restreams do',
      description:
        'All destinations in the order of `restreams`; while the live stream broadcasts, those that it began with. Keys are not shown.',
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
