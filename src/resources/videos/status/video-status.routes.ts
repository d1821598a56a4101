import type { Caller } from '../../../http/routing/caller.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import type { EncodingState } from '../../../vod/encoding-repository.ts';
import { type VideoStatusView, videoStatusSchema } from './video-status.schema.ts';

/** Where the status is put together from. */
export interface VideoStatusSources {
  /** Whether the project has the video, and it is not discarded. */
  hasVideo(projectId: string, videoId: string): boolean;
  ingestOf(videoId: string): VideoStatusView['ingest'];
  /** Why the source will never be complete, as a sentence. */
  sourceFailureOf(videoId: string): string | undefined;
  encodingOf(videoId: string): EncodingState | undefined;
  /** Whether it can be played now, be it while its first quality is still growing. */
  isPlayable(videoId: string): boolean;
}

type Metadata = VideoStatusView['encoding']['metadata'];
type Quality = VideoStatusView['encoding']['qualities'][number];

const unknownMetadata: Metadata = {
  width: null,
  height: null,
  bitrate: null,
  duration: null,
  framerate: null,
  samplerate: null,
  videoCodec: null,
  audioCodec: null,
  aspectRatio: null,
};

/** The route `GET /videos/{videoId}/status`. */
export function videoStatusRoutes(sources: VideoStatusSources): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}/status',
      tag: 'Videos',
      summary: 'Get the status of a video',
      description:
        'How much of the source has arrived, which qualities there are, and whether it can be played.',
      auth: 'key',
      params: { videoId: 'Id of the video.' },
      find: ({ params, caller }: { params: { videoId: string }; caller: Caller }) =>
        sources.hasVideo(caller.projectId, params.videoId) || undefined,
      success: { status: 200, description: 'The status.', schema: videoStatusSchema },
      handle: ({ params }) => statusOf(params.videoId, sources),
    }),
  ];
}

function statusOf(videoId: string, sources: VideoStatusSources): VideoStatusView {
  const ingest = sources.ingestOf(videoId);
  const encoding = sources.encodingOf(videoId);
  const failure = encoding?.failure ?? sources.sourceFailureOf(videoId);
  return {
    ...(ingest === undefined ? {} : { ingest }),
    encoding: {
      playable: sources.isPlayable(videoId),
      qualities: (encoding?.renditions ?? [])
        .filter(({ type }) => type !== 'audio')
        .map(({ type, quality, status, progressPercent }) => ({
          type: type as Quality['type'],
          quality: quality as Quality['quality'],
          status,
          progress: progressPercent,
        })),
      metadata: { ...unknownMetadata, ...(encoding?.facts as Partial<Metadata> | undefined) },
      ...(failure === undefined ? {} : { failure }),
    },
  };
}
