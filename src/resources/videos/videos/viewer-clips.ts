import { AppError } from '../../../shared/errors.ts';
import { maxTitleChars } from '../../../shared/limits/resource-limits.ts';
import { detailed } from '../../../shared/network/signaling.ts';
import type { ViewerLimits } from '../../../shared/playback-policy.ts';
import type { VideosService } from './videos.service.ts';

interface ViewerClipsOptions {
  readonly findStream: (
    projectId: string,
    liveStreamId: string,
  ) => Promise<{ readonly name: string; readonly playerId?: string | undefined } | undefined>;
  readonly hasPlayer: (projectId: string, playerId: string) => Promise<boolean>;
  readonly videos: VideosService;
}

type CreateViewerClip = (
  projectId: string,
  liveStreamId: string,
  part: { readonly lastMs: number; readonly untilMs: number },
  limits: ViewerLimits | undefined,
) => Promise<{ readonly videoId: string; readonly url: string }>;

const tag = 'viewer-clip';
const titleEnd = ' (clip by a viewer)';

/** The clip inherits who may play its live stream, and has its theme, unless that is deleted. */
export function createViewerClips({ findStream, hasPlayer, videos }: ViewerClipsOptions): CreateViewerClip {
  return async (projectId, liveStreamId, part, limits) => {
    const stream = await findStream(projectId, liveStreamId);
    if (stream === undefined) throw new AppError('resource-not-found');
    const { name, playerId } = stream;
    const hasTheme = playerId !== undefined && (await hasPlayer(projectId, playerId));
    try {
      const video = await videos.createFrom(projectId, liveStreamId, {
        title: `${name.slice(0, maxTitleChars - titleEnd.length).toWellFormed()}${titleEnd}`,
        tags: [tag],
        ...(hasTheme ? { playerId } : {}),
        viewerLimits: limits,
        clip: part,
      });
      const { assets } = await videos.view(video, { hidesPrivate: false });
      return { videoId: video.videoId, url: assets!.player };
    } catch (error) {
      throw error instanceof AppError ? errorForViewers(error) : error;
    }
  };
}

/** Viewers neither know the storage of the owner nor the parameters of the API. */
function errorForViewers(error: AppError): AppError {
  switch (error.code) {
    case 'storage-limit-reached':
    case 'disk-full':
      return detailed('not-ready', 'The server has no space for another clip of this live stream.');
    case 'invalid-attribute':
      return detailed('invalid-viewer-clip', 'This part of the broadcast is no longer available.');
    default:
      return error;
  }
}
