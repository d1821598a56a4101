import { Delivery } from '../delivery/delivery.ts';
import type { ViewerCount } from '../delivery/live/viewer-count.ts';
import type { PrivateSessionsStore } from '../resources/private-sessions/private-sessions.store.ts';
import type { Api } from './api.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { Foundation } from './foundation.ts';
import type { VideoServices } from './video-services.ts';
import { createVodSource, fileBody, type VodServices } from './vod.ts';

interface DeliveryDependencies {
  readonly api: Api;
  readonly broadcasts: Broadcasts;
  readonly videoServices: VideoServices;
  readonly vod: VodServices;
  readonly viewers: ViewerCount;
  readonly sessions: PrivateSessionsStore;
}

export function createDelivery(
  { bundles, config, metrics, urls, peers, clock, log }: Foundation,
  { api, broadcasts, videoServices, vod, viewers, sessions }: DeliveryDependencies,
): Delivery {
  const { players } = videoServices;
  const { liveStreams, traffic } = api;
  return new Delivery({
    bundles,
    live: broadcasts.registry,
    frames: broadcasts.services.thumbnails,
    streams: {
      find: liveStreamId => liveStreams.findForViewers(liveStreamId),
      thumbnailPath: liveStreamId => liveStreams.thumbnailPath(liveStreamId),
      theme: async liveStreamId => {
        const playerId = (await liveStreams.findForViewers(liveStreamId))?.playerId;
        return playerId === undefined ? undefined : players.shown(playerId);
      },
    },
    vod: createVodSource(vod, videoServices),
    logo: async (playerId, extension) => {
      const file = await players.logoFile(playerId, extension);
      return file && fileBody(file, extension === 'png' ? 'image/png' : 'image/jpeg');
    },
    ...{ sessions, viewers, clock },
    publicUrl: urls.publicUrl,
    docsBase: api.docsBase,
    addressOf: peers.addressOf,
    viewerStallMs: config['delivery.viewerStall'],
    observer: {
      bytesOut: (count, payer) => {
        metrics.bytesOut.inc(count);
        if (payer !== undefined) traffic.record(payer.projectId, payer.deliveryKind, count);
      },
      viewerDropped: reason => metrics.connectionsDropped.inc({ side: 'viewer', reason }),
      request: (kind, status) => metrics.countMediaRequest(kind, status),
    },
    log: log.child('delivery'),
  });
}
