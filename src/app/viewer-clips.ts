import { ClipEndpoint, type CreateViewerClip } from '../delivery/clips/clip-endpoint.ts';
import type { VideosService } from '../resources/videos/videos.service.ts';
import { AppError } from '../shared/errors.ts';
import { detailed } from '../webrtc/signaling.ts';
import type { Api } from './api.ts';
import type { DeliveryDependencies } from './delivery.ts';
import type { Foundation } from './foundation.ts';

const tag = 'viewer-clip';

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
    createClip: createClip(liveStreams, videoServices.videos),
  });
}

/** The clip is as public as its live stream, with its theme and playback policy. */
function createClip(liveStreams: Api['liveStreams'], videos: VideosService): CreateViewerClip {
  return async (projectId, liveStreamId, part) => {
    const stream = await liveStreams.find(projectId, liveStreamId);
    if (stream === undefined) throw new AppError('resource-not-found');
    const { name, playerId, playbackPolicy } = stream;
    try {
      const video = await videos.createFrom(projectId, liveStreamId, {
        title: `${name} (clip by a viewer)`,
        public: stream.public,
        tags: [tag],
        ...(playerId === undefined ? {} : { playerId }),
        ...(playbackPolicy === undefined ? {} : { playbackPolicy }),
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
