import type { ChannelSource } from '../delivery/channel/channel-source.ts';
import { ClipEndpoint } from '../delivery/clips/clip-endpoint.ts';
import { Delivery } from '../delivery/delivery.ts';
import type { DeliveryObserver } from '../delivery/delivery-observer.ts';
import type { ViewerCount } from '../delivery/live/viewer-count.ts';
import type { PlaybackGate } from '../delivery/playback-gate.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { ChannelListsStore } from '../resources/playback/channels/channel-lists.store.ts';
import { createViewerClips } from '../resources/videos/videos/viewer-clips.ts';
import { WatchPageStore } from '../resources/videos/videos/watch-page.store.ts';
import type { Clock } from '../shared/clock.ts';
import { openWithin } from '../shared/files/open-within.ts';
import type { ReadableFiles } from '../shared/files/opened-file.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import type { Api } from './api.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { Foundation } from './foundation.ts';
import type { VideoServices } from './video-services.ts';
import { createVodSource, fileBody, type VodServices } from './vod.ts';

export interface DeliveryDependencies {
  readonly api: Api;
  readonly broadcasts: Broadcasts;
  readonly videoServices: VideoServices;
  readonly vod: VodServices;
  readonly viewers: ViewerCount;
  readonly playback: PlaybackGate;
}

export function createDelivery(
  { bundles, database, files, config, metrics, urls, peers, clock, log }: Foundation,
  { api, broadcasts, videoServices, vod, viewers, playback }: DeliveryDependencies,
): Delivery {
  const { players } = videoServices;
  const { liveStreams } = api;
  return new Delivery({
    bundles,
    storage: readableFiles(files.storage),
    live: broadcasts.cluster ?? broadcasts.registry,
    frames: broadcasts.services.thumbnails,
    storyboards: broadcasts.services.storyboards,
    streams: {
      find: liveStreamId => liveStreams.findForViewers(liveStreamId),
      thumbnailPath: liveStreamId => liveStreams.thumbnailPath(liveStreamId),
      theme: async liveStreamId => {
        const playerId = (await liveStreams.findForViewers(liveStreamId))?.playerId;
        return playerId === undefined ? undefined : players.shown(playerId);
      },
    },
    vod: createVodSource(vod, videoServices),
    watch: new WatchPageStore(database),
    channels: channelSource(new ChannelListsStore(database), clock),
    frontPage: config.frontPage,
    viewersOf: liveStreamId => viewersOf(liveStreamId, broadcasts, viewers),
    logo: async (playerId, extension) => {
      const file = await players.logoFile(playerId, extension);
      return file && fileBody(file, extension === 'png' ? 'image/png' : 'image/jpeg');
    },
    playback,
    viewers,
    clock,
    publicUrl: urls.publicUrl,
    docsBase: api.docsBase,
    addressOf: peers.addressOf,
    viewerStallMs: config['delivery.viewerStall'],
    observer: deliveryObserver(metrics, api),
    log: log.child('delivery'),
  });
}

function channelSource(store: ChannelListsStore, clock: Clock): ChannelSource {
  return {
    findBySlug: slug => store.findBySlug(slug),
    findByProject: projectId => store.findByProject(projectId),
    findByPair: pairId => store.findByPair(pairId),
    logo: slug => store.logo(slug),
    videos: (channel, request) => store.videos(channel, request, clock.nowMs()),
    liveStreams: channel => store.liveStreams(channel),
    announcedStreams: channel => store.announcedStreams(channel, clock.nowMs()),
  };
}

/** The server that packages a broadcast counts its viewers, and reports them to the others. */
async function viewersOf(
  liveStreamId: string,
  { registry, cluster }: Broadcasts,
  viewers: ViewerCount,
): Promise<number> {
  if (cluster === undefined || registry.isRunning(liveStreamId)) return viewers.count(liveStreamId);
  return (await cluster.report(liveStreamId))?.stats.viewers ?? 0;
}

export function createClipEndpoint(
  { clock }: Foundation,
  { api, broadcasts, videoServices, playback }: DeliveryDependencies,
): ClipEndpoint {
  const { liveStreams } = api;
  const { players, videos } = videoServices;
  return new ClipEndpoint({
    playback,
    clock,
    live: broadcasts.cluster ?? broadcasts.registry,
    streams: {
      find: liveStreamId => liveStreams.findForViewers(liveStreamId),
      thumbnailPath: liveStreamId => liveStreams.thumbnailPath(liveStreamId),
    },
    createClip: createViewerClips({
      findStream: (projectId, liveStreamId) => liveStreams.find(projectId, liveStreamId),
      hasPlayer: (projectId, playerId) => players.exists(projectId, playerId),
      videos,
    }),
  });
}

export function deliveryObserver(metrics: Metrics, { traffic }: Pick<Api, 'traffic'>): DeliveryObserver {
  return {
    bytesOut: (count, payer) => {
      metrics.bytesOut.inc(count);
      if (payer !== undefined) traffic.record(payer.projectId, payer.deliveryKind, count);
    },
    viewerDropped: reason => metrics.connectionsDropped.inc({ side: 'viewer', reason }),
    request: (kind, status) => metrics.countMediaRequest(kind, status),
  };
}

/** Longest wait for storage: below the time after which a viewer counts as stalled. */
const maxStorageWaitMs = 8000;

function readableFiles(storage: MediaStorage): ReadableFiles {
  const open = (path: string) => storage.open(path);
  return {
    open: storage.kind === 'data-folder' ? open : openWithin(maxStorageWaitMs, open),
    find: path => storage.find(path),
  };
}
