import { ClipEndpoint, type CreateViewerClip } from '../delivery/clips/clip-endpoint.ts';
import { maxTitleChars } from '../resources/videos/videos/videos.schema.ts';
import { AppError } from '../shared/errors.ts';
import { detailed } from '../webrtc/signaling.ts';
import type { Api } from './api.ts';
import type { DeliveryDependencies } from './delivery.ts';
import type { Foundation } from './foundation.ts';
import type { VideoServices } from './video-services.ts';

const tag = 'viewer-clip';
const titleEnd = ' (clip by a viewer)';

export function createClipEndpoint(
  { clock }: Foundation,
  { api, broadcasts, videoServices, playback }: DeliveryDependencies,
): ClipEndpoint {
  const { liveStreams } = api;
  return new ClipEndpoint({
    ...{ playback, clock },
    live: broadcasts.cluster ?? broadcasts.registry,
    streams: {
      find: liveStreamId => liveStreams.findForViewers(liveStreamId),
      thumbnailPath: liveStreamId => liveStreams.thumbnailPath(liveStreamId),
    },
    createClip: createClip(liveStreams, videoServices),
  });
}

/** The clip inherits who may play its live stream, and has its theme, unless that is deleted. */
function createClip(
  liveStreams: Api['liveStreams'],
  { videos, players }: Pick<VideoServices, 'videos' | 'players'>,
): CreateViewerClip {
  return async (projectId, liveStreamId, part, limits) => {
    const stream = await liveStreams.find(projectId, liveStreamId);
    if (stream === undefined) throw new AppError('resource-not-found');
    const { name, playerId } = stream;
    const hasTheme = playerId !== undefined && (await players.exists(projectId, playerId));
    try {
      const video = await videos.createFrom(projectId, liveStreamId, {
        title: `${name.slice(0, maxTitleChars - titleEnd.length).toWellFormed()}${titleEnd}`,
        tags: [tag],
        ...(hasTheme ? { playerId } : {}),
        viewerLimits: limits,
        clip: part,
      });
      const { assets } = await videos.view(video);
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
      return detailed('not-ready', 'The server has no room for another clip of this live stream.');
    case 'invalid-attribute':
      return detailed('invalid-viewer-clip', 'This part of the broadcast is no longer available.');
    default:
      return error;
  }
}
