import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import type { PrivateTokens } from '../resources/playback/private-sessions/private-tokens.store.ts';
import { minClipMs } from '../resources/videos/uploads/clip-range.ts';
import type { ClippableBroadcast, LiveClips } from '../resources/videos/uploads/clip-sources.ts';
import { AppError } from '../shared/errors.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import type { ClipMedia, ClipRange } from '../vod/clip/clip-media.ts';
import { makeClip } from '../vod/clip/make-clip.ts';
import { readParts } from '../vod/clip/video-clip.ts';
import type { VodContext } from '../vod/vod-context.ts';
import type { ClusterLive } from './cluster-live.ts';
import { forwardClip } from './forwarded-clips.ts';

interface LiveClipsOptions {
  readonly registry: BroadcastRegistry;
  /** Undefined for the only server of a database. */
  readonly cluster: ClusterLive | undefined;
  readonly liveStreams: LiveStreamsStore;
  readonly context: VodContext;
  /** Undefined for the only server of a database. */
  readonly tokens: PrivateTokens | undefined;
}

type RunningBroadcast = ReturnType<BroadcastRegistry['running']>[number];
type BroadcastMedia = NonNullable<ReturnType<RunningBroadcast['renditions']['clippableMedia']>>;

const notBroadcasting =
  'The live stream is not broadcasting. Clip its recording instead: GET /videos?liveStreamId= lists the recordings.';
const moved = 'The broadcast has just moved to another server. Try again.';
const tooYoung = 'The broadcast has only just begun. Try again in a few seconds.';

/** Clips of the broadcasts that this server packages. */
export function createLiveClips(options: LiveClipsOptions): LiveClips {
  const { registry, cluster, liveStreams, context, tokens } = options;
  const serverUrlOf = (liveStreamId: string) => cluster?.current(liveStreamId)?.serverUrl;
  return {
    createElsewhere:
      tokens &&
      (async (projectId, liveStreamId, attributes) => {
        const serverUrl = serverUrlOf(liveStreamId);
        if (serverUrl === undefined) return undefined;
        const stream = await liveStreams.find(projectId, liveStreamId);
        return stream && forwardClip(tokens, { serverUrl, liveStreamId }, { projectId, attributes });
      }),
    find: async (projectId, liveStreamId) => {
      if ((await liveStreams.find(projectId, liveStreamId)) === undefined) return undefined;
      const running = registry.running().find(one => one.liveStreamId === liveStreamId);
      const media = running?.renditions.clippableMedia();
      if (running === undefined)
        throw nothingToClip(serverUrlOf(liveStreamId) === undefined ? notBroadcasting : moved);
      if (media === undefined || media.segments.length === 0) throw nothingToClip(tooYoung);
      const broadcast = clippableBroadcast(running, media, context);
      const { startMs, endMs } = broadcast.available;
      if (endMs - startMs < minClipMs) throw nothingToClip(tooYoung);
      return broadcast;
    },
  };
}

function clippableBroadcast(
  { startedAtMs }: RunningBroadcast,
  media: BroadcastMedia,
  context: VodContext,
): ClippableBroadcast {
  const first = media.segments[0]!;
  const last = media.segments.at(-1)!;
  return {
    startedAtMs,
    available: {
      startMs: Math.max(0, first.dateMs - startedAtMs),
      endMs: Math.max(0, Math.round(last.dateMs + last.durationSeconds * 1000) - startedAtMs),
    },
    write: (range, target, signal) => {
      const ofRange = mediaOf(media, range, startedAtMs, context.files.storage);
      return makeClip(context, target, { range, media: async () => ofRange, mustEncode: false }, signal);
    },
  };
}

function mediaOf(
  { renditions, segments }: BroadcastMedia,
  range: ClipRange,
  startedAtMs: number,
  storage: MediaStorage,
): ClipMedia {
  const startOf = ({ dateMs }: BroadcastMedia['segments'][number]) => (dateMs - startedAtMs) / 1000;
  const first = segments.findLastIndex(
    segment => segment.isIndependent && startOf(segment) <= range.startSeconds,
  );
  const from = Math.max(0, first);
  const wanted = segments.slice(from).filter(segment => startOf(segment) < range.endSeconds);
  return {
    renditions,
    isPlayable: false,
    rows: wanted.map((segment, index) => ({
      startSeconds: startOf(segment),
      read: async rendition => {
        // Audio from the frame before the first one of video.
        const before = index === 0 && rendition > 0 ? (segments[from - 1]?.parts(rendition) ?? []) : [];
        return readParts([...before, ...segment.parts(rendition)], storage);
      },
    })),
  };
}

function nothingToClip(detail: string): AppError {
  return new AppError('live-stream-not-broadcasting', detail, { details: { name: 'source', detail } });
}
