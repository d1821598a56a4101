import { projectResource } from '../../../../http/routing/project-resource.ts';
import { defineRoute, type Route } from '../../../../http/routing/route.ts';
import type { EncodingState } from '../../../../vod/encoding-repository.ts';
import type { TranscriptState } from '../../../../vod/transcripts/transcript-repository.ts';
import {
  type VideoStatusView,
  videoStatusesQuerySchema,
  videoStatusesSchema,
  videoStatusSchema,
} from './video-status.schema.ts';

export interface VideoStatusSources {
  hasVideo(projectId: string, videoId: string): Promise<boolean>;
  /** Keeps the ids that are videos of the project, and not discarded. */
  videosAmong(projectId: string, videoIds: readonly string[]): Promise<string[]>;
  ingestOf(videoId: string): Promise<VideoStatusView['ingest']>;
  sourceFailureOf(videoId: string): Promise<string | undefined>;
  encodingOf(videoId: string): Promise<EncodingState | undefined>;
  /** Why a job of the video waits for its next attempt. */
  delayOf(videoId: string): Promise<string | undefined>;
  /** True once it can be played, even while its first rendition is still growing. */
  isPlayable(videoId: string): Promise<boolean>;
  transcriptOf(videoId: string): Promise<TranscriptState | undefined>;
  readonly canTranscribe: boolean;
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

export function videoStatusRoutes(sources: VideoStatusSources): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/videos/statuses',
      tag: 'Videos',
      summary: 'Get the status of several videos',
      description: 'The same as `GET /videos/{videoId}/status` for each video. Leaves out ids of no video.',
      auth: 'key',
      query: videoStatusesQuerySchema,
      success: { status: 200, description: 'The statuses.', schema: videoStatusesSchema },
      handle: async ({ caller, query }) => {
        const asked = [...new Set(query.videoIds)];
        const videoIds = asked.length === 0 ? [] : await sources.videosAmong(caller.projectId, asked);
        return {
          data: await Promise.all(
            videoIds.map(async videoId => ({ videoId, ...(await statusOf(videoId, sources)) })),
          ),
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/videos/{videoId}/status',
      summary: 'Get the status of a video',
      description: 'The progress of the upload and of the encoding, and whether the video is playable.',
      ...projectResource(
        'Videos',
        ['videoId', 'Id of the video.'],
        async (projectId, videoId) => (await sources.hasVideo(projectId, videoId)) || undefined,
      ),
      success: { status: 200, description: 'The status.', schema: videoStatusSchema },
      handle: ({ params }) => statusOf(params.videoId, sources),
    }),
  ];
}

async function statusOf(videoId: string, sources: VideoStatusSources): Promise<VideoStatusView> {
  const ingest = await sources.ingestOf(videoId);
  const encoding = await sources.encodingOf(videoId);
  const failure = encoding?.failure ?? (await sources.sourceFailureOf(videoId));
  const delay = failure === undefined ? await sources.delayOf(videoId) : undefined;
  return {
    ingest,
    encoding: {
      playable: await sources.isPlayable(videoId),
      qualities: (encoding?.renditions ?? [])
        .filter(({ type }) => type !== 'audio')
        .map(({ type, quality, status, progressPercent }) => ({
          type: type as Quality['type'],
          quality: quality as Quality['quality'],
          status,
          progress: progressPercent,
        })),
      ...additionalQualitiesOf(encoding),
      metadata: { ...unknownMetadata, ...(encoding?.sourceMetadata as Partial<Metadata> | undefined) },
      ...(failure === undefined ? {} : { failure }),
      ...(delay === undefined ? {} : { delay }),
    },
    ...transcriptOf(await sources.transcriptOf(videoId), sources.canTranscribe),
  };
}

function transcriptOf(
  state: TranscriptState | undefined,
  canTranscribe: boolean,
): Pick<VideoStatusView, 'transcript'> {
  if (state === undefined) return canTranscribe ? { transcript: { status: 'none', progress: 0 } } : {};
  const { status, progressPercent: progress, language, failure } = state;
  return {
    transcript: {
      status,
      progress,
      language,
      failure,
    },
  };
}

function additionalQualitiesOf(
  encoding: EncodingState | undefined,
): Pick<VideoStatusView['encoding'], 'additionalQualities'> {
  const renditions = encoding?.codecRenditions ?? [];
  if (renditions.length === 0) return {};
  return {
    additionalQualities: renditions.map(({ codec, quality, status, progressPercent }) => ({
      codec,
      quality: quality as Quality['quality'],
      status,
      progress: progressPercent,
    })),
  };
}
