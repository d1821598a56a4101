import { AppError } from '../../../shared/errors.ts';
import { minClipMs } from '../../../shared/limits/resource-limits.ts';
import type { PrivateTokens } from '../../playback/private-sessions/private-tokens.store.ts';
import type { ClippableBroadcast, LiveClips } from './clip-sources.ts';
import { forwardClip } from './forwarded-clips.ts';

interface LiveClipsOptions {
  readonly hasStream: (projectId: string, liveStreamId: string) => Promise<boolean>;
  /** Undefined when this server does not receive the live stream; without a `broadcast` as long as nothing was packaged. */
  readonly running: (
    liveStreamId: string,
  ) => { readonly broadcast: ClippableBroadcast | undefined } | undefined;
  /** Returns the address of the other server that packages the broadcast. */
  readonly serverUrlOf: (liveStreamId: string) => string | undefined;
  /** Undefined for the only server of a database. */
  readonly tokens: PrivateTokens | undefined;
}

const notBroadcasting =
  'The live stream is not broadcasting. Clip its recording instead: GET /videos?liveStreamId= lists the recordings.';
const moved = 'The broadcast has just moved to another server. Try again.';
const tooYoung = 'The broadcast has only just begun. Try again in a few seconds.';

/** Clips of running broadcasts: made here when this server packages them, elsewhere otherwise. */
export function createLiveClips({ hasStream, running, serverUrlOf, tokens }: LiveClipsOptions): LiveClips {
  return {
    createElsewhere:
      tokens &&
      (async (projectId, liveStreamId, attributes) => {
        const serverUrl = serverUrlOf(liveStreamId);
        if (serverUrl === undefined || !(await hasStream(projectId, liveStreamId))) return undefined;
        return forwardClip(tokens, { serverUrl, liveStreamId }, { projectId, attributes });
      }),
    find: async (projectId, liveStreamId) => {
      if (!(await hasStream(projectId, liveStreamId))) return undefined;
      const own = running(liveStreamId);
      if (own === undefined)
        throw nothingToClip(serverUrlOf(liveStreamId) === undefined ? notBroadcasting : moved);
      if (own.broadcast === undefined) throw nothingToClip(tooYoung);
      const { startMs, endMs } = own.broadcast.available;
      if (endMs - startMs < minClipMs) throw nothingToClip(tooYoung);
      return own.broadcast;
    },
  };
}

function nothingToClip(detail: string): AppError {
  return new AppError('live-stream-not-broadcasting', detail, { details: { name: 'source', detail } });
}
