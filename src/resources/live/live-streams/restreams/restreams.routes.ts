import type { Caller } from '../../../../http/routing/caller.ts';
import { defineRoute, type Route } from '../../../../http/routing/route.ts';
import { formatAtom } from '../../../../shared/clock.ts';
import { redactServerUrl } from '../../../../shared/network/redact-server-url.ts';
import {
  type LiveQualities,
  type LiveStream,
  type RestreamRendition,
  restreamRenditions,
} from '../live-stream.ts';
import { type RestreamView, restreamListSchema } from './restreams.schema.ts';

interface RestreamReport {
  readonly name: string;
  readonly serverUrl: string;
  readonly rendition: string;
  readonly state: 'connecting' | 'live' | 'retrying' | 'stopped' | 'disabled';
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  readonly bitrateBitsPerSecond: number;
  readonly droppedFrames: number;
  readonly retries: number;
}

export interface RestreamReports {
  /** Reports in the order of the live stream's restreams; undefined without a broadcast. */
  ofStream(liveStreamId: string): readonly RestreamReport[] | undefined;
}

interface RestreamSources {
  readonly find: (
    projectId: string,
    liveStreamId: string,
  ) => Promise<Pick<LiveStream, 'liveStreamId' | 'restreams' | 'qualities'> | undefined>;
  readonly running: RestreamReports;
  readonly defaultQualities: () => LiveQualities;
}

export function restreamRoutes({ find, running, defaultQualities }: RestreamSources): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/live-streams/{liveStreamId}/restreams',
      tag: 'Live streams',
      summary: 'Get the state of restreams',
      description:
        'All destinations in the order of `restreams`, and the renditions that they can get. Stream keys are not shown.',
      auth: 'key',
      params: { liveStreamId: 'Id of the live stream.' },
      find: ({ params, caller }: { params: { liveStreamId: string }; caller: Caller }) =>
        find(caller.projectId, params.liveStreamId),
      success: { status: 200, description: 'The destinations.', schema: restreamListSchema },
      handle: ({ found: { restreams, liveStreamId, qualities = defaultQualities() } }) => ({
        data:
          running.ofStream(liveStreamId)?.map(viewOf) ??
          restreams.map(
            ({ name, serverUrl, enabled = true }): RestreamView => ({
              name,
              serverUrl: redactServerUrl(serverUrl),
              state: enabled ? 'idle' : 'disabled',
            }),
          ),
        renditions: qualities === 'ladder' ? [...restreamRenditions] : sourceOnly,
      }),
    }),
  ];
}

const sourceOnly: RestreamRendition[] = ['source'];

function viewOf({ sinceMs, reason, lastError, ...report }: RestreamReport): RestreamView {
  return {
    ...report,
    since: formatAtom(sinceMs),
    ...(reason === undefined ? {} : { reason }),
    ...(lastError === undefined ? {} : { lastError }),
  };
}
