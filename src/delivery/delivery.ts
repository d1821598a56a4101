import { LRUCache } from 'lru-cache';
import type { FastRequest, FastResponse } from '../http/fast-path/fast-response.ts';
import type { AddressOf } from '../http/listener/client-address.ts';
import type { BrowserBundles } from '../http/pages/browser-bundles.ts';
import type { Clock } from '../shared/clock.ts';
import type { ReadableFiles } from '../shared/files/opened-file.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import type { ResponseBody } from '../shared/viewer-responses.ts';
import { ChannelDelivery } from './channel/channel-delivery.ts';
import type { ChannelSource } from './channel/channel-source.ts';
import { WatchedChannels } from './channel/watched-channels.ts';
import type { DeliveryObserver } from './delivery-observer.ts';
import { LiveDelivery } from './live/live-delivery.ts';
import type { LiveSource, LiveStreamDirectory } from './live/live-source.ts';
import { StateEvents } from './live/state-events.ts';
import type { LiveFrameSource, LiveStoryboardSource } from './live/thumbnails.ts';
import type { ViewerCount } from './live/viewer-count.ts';
import { sendStaticPage } from './pages/page-sender.ts';
import { loadPlayerFiles, type PlayerFiles } from './pages/player-files.ts';
import type { WatchSource } from './pages/watch-source.ts';
import type { DeliveryHandlers } from './paths/delivery-path.ts';
import { type FoundPath, findDeliveryPath } from './paths/delivery-paths.ts';
import type { PlaybackGate } from './playback-gate.ts';
import type { Exchange, ViewerReply, ViewerRequest, ViewerResponse } from './responses/exchange.ts';
import { PendingResponses } from './responses/pending-responses.ts';
import { allowedMethods, ResponseSender, scriptType } from './responses/response-sender.ts';
import { StallGuard } from './responses/stall-guard.ts';
import { isLinkPreview } from './token-gate.ts';
import { VodDelivery } from './vod/vod-delivery.ts';
import type { VodSource } from './vod/vod-source.ts';

export interface DeliveryOptions {
  readonly playback: PlaybackGate;
  /** Public URL without a slash at its end; `''` keeps pages from being shared. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly storage: ReadableFiles;
  readonly live: LiveSource;
  readonly streams: LiveStreamDirectory;
  /** Images of live streams without an uploaded one. */
  readonly frames: LiveFrameSource;
  readonly storyboards: LiveStoryboardSource;
  readonly vod: VodSource;
  readonly watch: WatchSource;
  readonly channels: ChannelSource;
  /** Project whose channel is at `/`, as users see it. */
  readonly frontPage?: string | undefined;
  /** Viewers of a live stream, on all servers. */
  readonly viewersOf: (liveStreamId: string) => Promise<number>;
  readonly logo: (playerId: string, extension: 'png' | 'jpg') => Promise<ResponseBody | undefined>;
  readonly docsBase: () => string;
  readonly bundles: BrowserBundles;
  readonly log: Logger;
  readonly observer: DeliveryObserver;
  readonly addressOf: AddressOf;
  /** Cuts off a viewer who reads nothing for this long. */
  readonly viewerStallMs: number;
  /** Player pages that receive state changes; 20,000 unless given. */
  readonly maxEventClients?: number;
  /** 5,000 unless given. */
  readonly maxEventClientsPerStream?: number;
  /** 15,000 unless given. */
  readonly heartbeatMs?: number;
  readonly viewers: ViewerCount;
}

interface ViewerTarget {
  readonly path: FoundPath | undefined;
  readonly query: string;
}

const kindsNeedingPlayerFiles: ReadonlySet<string> = new Set([
  'page',
  'asset',
  'vod-page',
  'vod-sample',
  'player-element',
  'channel',
  'front-page',
]);
const frontPage: FoundPath = {
  kind: 'front-page',
  parameters: {},
  handle: (to, exchange, _, query) => to.sendFrontPage(exchange, query),
};
const maxUrlLength = 2048;
const maxTargets = 500;
const noStore = 'no-store';
const nosniff = ['X-Content-Type-Options', 'nosniff'] as const;

export class Delivery implements Component, DeliveryHandlers {
  readonly name = 'delivery';
  readonly channels: ChannelDelivery;
  readonly live: LiveDelivery;
  readonly vod: VodDelivery;
  readonly #options: DeliveryOptions;
  readonly #guard: StallGuard;
  readonly #sender: ResponseSender;
  readonly #pending: PendingResponses;
  readonly #events: StateEvents;
  /** Parsed targets by path: many viewers request the same. */
  readonly #targets = new LRUCache<string, ViewerTarget>({ max: maxTargets });
  #loadingFiles: Promise<void> | undefined;
  #loadedFiles: PlayerFiles | undefined;

  constructor(options: DeliveryOptions) {
    const { clock, observer } = options;
    this.#options = options;
    this.#guard = new StallGuard(clock, options.viewerStallMs, () =>
      observer.viewerDropped('viewer-stalled'),
    );
    this.#sender = new ResponseSender(options.storage.open, this.#guard, observer, options.docsBase);
    this.#pending = new PendingResponses(this.#sender, options.log);
    this.#events = new StateEvents({
      live: options.live,
      observer,
      maxClients: options.maxEventClients ?? 20_000,
      maxClientsPerStream: options.maxEventClientsPerStream ?? 5000,
      heartbeatMs: options.heartbeatMs ?? 15_000,
    });
    const watchedChannels = new WatchedChannels(options);
    const shared = {
      sender: this.#sender,
      pending: this.#pending,
      files: () => this.#files(),
      watchedChannels,
    };
    this.live = new LiveDelivery({
      ...options,
      ...shared,
      events: this.#events,
      viewersShown: liveStreamId => this.#viewersShown(liveStreamId),
    });
    this.vod = new VodDelivery({ ...options, ...shared, source: options.vod });
    this.channels = new ChannelDelivery({ ...options, ...shared, frontPage: options.frontPage });
  }

  /** Counts the viewers of a live stream; undefined while it is not live, or the owner does not show them. */
  async #viewersShown(liveStreamId: string): Promise<number | undefined> {
    const { live, streams, viewersOf } = this.#options;
    if (!live.state(liveStreamId).live) return undefined;
    const stream = await streams.find(liveStreamId);
    return stream?.showViewers === true ? viewersOf(liveStreamId) : undefined;
  }

  async start(): Promise<void> {}

  /** Empties the caches of media. */
  releaseMemory(): void {
    this.#sender.releaseMemory();
    this.live.releaseMemory();
  }

  /** Ends the event streams. Viewers go on fetching. */
  async drain(): Promise<void> {
    this.#events.drain();
  }

  async stop(): Promise<void> {
    this.#events.stop();
    this.#pending.end();
    this.#guard.stop();
  }

  get heldRequests(): number {
    return this.#pending.heldRequests;
  }

  allowedMethods(path: string): string | undefined {
    return findDeliveryPath(path) === undefined ? undefined : allowedMethods;
  }

  /** @returns false for paths that are not for viewers, and for event streams, left untouched */
  handleFast(request: FastRequest, response: FastResponse): boolean {
    return this.#handle(request, response, false);
  }

  /** @returns false for paths that are not for viewers, left untouched */
  handle(request: ViewerRequest, response: ViewerResponse): boolean {
    return this.#handle(request, response, true);
  }

  #handle(request: ViewerRequest, response: ViewerResponse, hasEvents: boolean): boolean {
    const url = request.url ?? '/';
    const { path, query } =
      this.#findFrontPage(request, url) ?? this.#targets.get(url) ?? this.#readTarget(url);
    if (path === undefined || (path.kind === 'events' && !hasEvents)) return false;
    const exchange: Exchange = {
      kind: path.kind,
      isHead: request.method === 'HEAD',
      request,
      reply: response as ViewerResponse & ViewerReply,
    };
    try {
      if (url.length > maxUrlLength) {
        this.#sender.sendError(exchange, 414, 'The URL is too long.', noStore);
      } else if (request.method === 'GET' || request.method === 'HEAD') {
        this.#dispatch(exchange, path, query);
      } else if (request.method === 'OPTIONS') {
        this.#sender.sendPreflight(exchange);
      } else {
        const allow = ['Allow', allowedMethods];
        this.#sender.sendError(
          exchange,
          405,
          'Method not allowed. Use GET, HEAD or OPTIONS.',
          noStore,
          allow,
        );
      }
    } catch (error) {
      this.#pending.fail(exchange, error);
    }
    return true;
  }

  /** Finds the channel at `/`, which is for browsers and for those who preview a link to it: others get the API there. */
  #findFrontPage(request: ViewerRequest, url: string): ViewerTarget | undefined {
    if (!this.channels.hasFrontPage || !/^\/(?:\?|$)/.test(url)) return undefined;
    const { method, headers } = request;
    if (method !== 'GET' && method !== 'HEAD') return undefined;
    if (!(headers.accept ?? '').includes('text/html') && !isLinkPreview(request)) return undefined;
    return { path: frontPage, query: url.slice(2) };
  }

  #readTarget(url: string): ViewerTarget {
    const queryAt = url.indexOf('?');
    const pathText = queryAt === -1 ? url : url.slice(0, queryAt);
    const path = findDeliveryPath(pathText);
    const target = { path, query: queryAt === -1 ? '' : url.slice(queryAt + 1) };
    if (path !== undefined && url.length <= maxUrlLength) this.#targets.set(url, target);
    return target;
  }

  #dispatch(exchange: Exchange, path: FoundPath, query: string): void {
    if (this.#loadedFiles === undefined && kindsNeedingPlayerFiles.has(path.kind)) {
      this.#pending.hold(exchange, this.#loadFiles(), () => this.#dispatch(exchange, path, query));
      return;
    }
    path.handle(this, exchange, path.parameters, query);
  }

  /** Revalidated: the owner may replace the image at any time. */
  sendLogo(exchange: Exchange, playerId: string, extension: 'png' | 'jpg'): void {
    this.#pending.hold(exchange, this.#options.logo(playerId, extension), logo => {
      if (logo === undefined) return this.#sender.sendNotFound(exchange, noStore);
      return this.#sender.sendBody(exchange, logo, { cacheControl: 'no-cache', headers: nosniff });
    });
  }

  sendFrontPage(exchange: Exchange, query: string): void {
    this.channels.sendFrontPage(exchange, query, `${this.#options.bundles.basePath}/dashboard`);
  }

  sendAsset(exchange: Exchange, name: string): void {
    const file = this.#files().byName.get(name);
    if (file === undefined) this.#sender.sendNotFound(exchange, noStore);
    else {
      const { text, contentType } = file;
      this.#sender.sendText(exchange, text, contentType, 'max-age=31536000, immutable', nosniff);
    }
  }

  sendSample(exchange: Exchange): void {
    sendStaticPage(this.#sender, exchange, this.#files().sample);
  }

  /** Revalidated: it names the files of this version. */
  sendElement(exchange: Exchange): void {
    this.#sender.sendText(exchange, this.#files().element, scriptType, 'no-cache', nosniff);
  }

  sendMissing(exchange: Exchange, caching: string): void {
    this.#sender.sendNotFound(exchange, caching);
  }

  /** Call after {@link #loadFiles}. */
  #files(): PlayerFiles {
    if (this.#loadedFiles === undefined) throw new Error('the files of the player are not loaded');
    return this.#loadedFiles;
  }

  /** Loads the files once; the next request retries a failure. */
  #loadFiles(): Promise<void> {
    this.#loadingFiles ??= loadPlayerFiles(this.#options.bundles)
      .then(files => {
        this.#loadedFiles = files;
      })
      .finally(() => {
        this.#loadingFiles = undefined;
      });
    return this.#loadingFiles;
  }
}
