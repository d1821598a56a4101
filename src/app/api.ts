import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Koa from 'koa';
import { DashboardPages } from '../delivery/pages/dashboard-pages.ts';
import { errorDocRoutes } from '../docs/error-docs.routes.ts';
import { apiDocument, apiDocumentRoute } from '../docs/openapi/api-document.ts';
import { DocsPages } from '../docs/pages/docs-pages.ts';
import { rootRoutes } from '../docs/root.routes.ts';
import type { EventFeed } from '../events/feed/event-feed.ts';
import { WebhookQueue } from '../events/webhooks/webhook-queue.store.ts';
import { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import { WebhookTester } from '../events/webhooks/webhook-tester.ts';
import { requireMaxPixels } from '../http/bodies/uploaded-image.ts';
import { addressReader, secureReader } from '../http/listener/client-address.ts';
import type { UpgradeHandler } from '../http/listener/upgrade-handler.ts';
import type { JsonObject } from '../http/openapi/openapi-schemas.ts';
import type { BrowserBundles } from '../http/pages/browser-bundles.ts';
import { pageMethods } from '../http/responses/page-responses.ts';
import type { Authenticate } from '../http/routing/caller.ts';
import { createKoaApp, type HttpObserver } from '../http/routing/koa-app.ts';
import { RateLimiter, type RateLimits } from '../http/routing/rate-limiter.ts';
import { type HealthOptions, healthRoutes } from '../operations/health/health.routes.ts';
import { type ServerComponents, ServerMonitor } from '../operations/server-state/server-monitor.ts';
import { serverStateRoutes } from '../operations/server-state/server-state.routes.ts';
import { ServerStateStore } from '../operations/server-state/server-state.store.ts';
import { QuotasStore } from '../operations/usage/quotas.store.ts';
import { type QuotaLimits, Quotas } from '../operations/usage/quotas.ts';
import { StorageMeterStore } from '../operations/usage/storage-meter.store.ts';
import { StorageMeter } from '../operations/usage/storage-meter.ts';
import { TrafficStore } from '../operations/usage/traffic.store.ts';
import { Traffic } from '../operations/usage/traffic.ts';
import { usageRoutes } from '../operations/usage/usage.routes.ts';
import { UsageService } from '../operations/usage/usage.service.ts';
import { UsageStore } from '../operations/usage/usage.store.ts';
import { accountRoutes, type IngestAddresses } from '../resources/accounts/account.routes.ts';
import { AccountsStore } from '../resources/accounts/accounts.store.ts';
import { KeyPairsService } from '../resources/accounts/key-pairs.service.ts';
import { KeyPairsStore } from '../resources/accounts/key-pairs.store.ts';
import {
  type Analytics,
  type AnalyticsSettings,
  createAnalytics,
} from '../resources/analytics/create-analytics.ts';
import { authRoutes } from '../resources/auth/auth.routes.ts';
import { AuthService } from '../resources/auth/auth.service.ts';
import { tokenCleanup } from '../resources/auth/token-cleanup.ts';
import { WrongKeyLimit } from '../resources/auth/wrong-key-limit.ts';
import { BroadcastHistoryStore } from '../resources/broadcasts/broadcast-history.store.ts';
import { broadcastRoutes } from '../resources/broadcasts/broadcasts.routes.ts';
import { BroadcastsService, type IngestHealthSources } from '../resources/broadcasts/broadcasts.service.ts';
import { eventFeedRoutes } from '../resources/events/event-feed.routes.ts';
import { eventFeedUpgrade } from '../resources/events/event-feed-upgrade.ts';
import type { LiveControl } from '../resources/live-streams/live-control.ts';
import { liveStreamRoutes } from '../resources/live-streams/live-streams.routes.ts';
import { LiveStreamsService } from '../resources/live-streams/live-streams.service.ts';
import { LiveStreamsStore } from '../resources/live-streams/live-streams.store.ts';
import { LiveThumbnailFiles } from '../resources/live-streams/live-thumbnail-files.ts';
import { type RestreamReport, restreamRoutes } from '../resources/live-streams/restreams/restreams.routes.ts';
import { playerRoutes } from '../resources/players/players.routes.ts';
import { PlayersService } from '../resources/players/players.service.ts';
import { PlayersStore } from '../resources/players/players.store.ts';
import { openPrivateTokens, type PrivateTokens } from '../resources/private-sessions/private-tokens.store.ts';
import { createSessions, type PeerReaders } from '../resources/sessions/create-sessions.ts';
import { environmentOf } from '../resources/sessions/session-gate.ts';
import { summaryRoutes } from '../resources/summaries/summaries.routes.ts';
import { SummariesService } from '../resources/summaries/summaries.service.ts';
import { SummariesStore } from '../resources/summaries/summaries.store.ts';
import { tagRoutes } from '../resources/tags/tags.routes.ts';
import { TagsStore } from '../resources/tags/tags.store.ts';
import { captionRoutes } from '../resources/text-tracks/captions.routes.ts';
import { chapterRoutes } from '../resources/text-tracks/chapters.routes.ts';
import { TextTracksService } from '../resources/text-tracks/text-tracks.service.ts';
import { TextTracksStore } from '../resources/text-tracks/text-tracks.store.ts';
import { uploadTokenRoutes } from '../resources/upload-tokens/upload-tokens.routes.ts';
import { UploadTokensService } from '../resources/upload-tokens/upload-tokens.service.ts';
import { UploadTokensStore } from '../resources/upload-tokens/upload-tokens.store.ts';
import { createUploads, type UploadDependencies, type Uploads } from '../resources/uploads/create-uploads.ts';
import { discardedVideoRoutes } from '../resources/videos/discarded/discarded-videos.routes.ts';
import {
  type VideoStatusSources,
  videoStatusRoutes,
} from '../resources/videos/status/video-status.routes.ts';
import type { AddSandboxWatermark } from '../resources/videos/thumbnails/prepare-thumbnail.ts';
import { videoThumbnailRoutes } from '../resources/videos/thumbnails/video-thumbnails.routes.ts';
import { VideoThumbnailsService } from '../resources/videos/thumbnails/video-thumbnails.service.ts';
import { VideoThumbnailsStore } from '../resources/videos/thumbnails/video-thumbnails.store.ts';
import { videoRoutes } from '../resources/videos/videos.routes.ts';
import type { VideoView } from '../resources/videos/videos.schema.ts';
import { type VideosOptions, VideosService } from '../resources/videos/videos.service.ts';
import { VideosStore } from '../resources/videos/videos.store.ts';
import { watermarkRoutes } from '../resources/watermarks/watermarks.routes.ts';
import { type WatermarksOptions, WatermarksService } from '../resources/watermarks/watermarks.service.ts';
import { WatermarksStore } from '../resources/watermarks/watermarks.store.ts';
import { deliveryRoutes } from '../resources/webhooks/deliveries.routes.ts';
import { DeliveriesService } from '../resources/webhooks/deliveries.service.ts';
import { DeliveriesStore } from '../resources/webhooks/deliveries.store.ts';
import { maxWebhooks } from '../resources/webhooks/webhook.ts';
import { webhookRoutes } from '../resources/webhooks/webhooks.routes.ts';
import { WebhooksService } from '../resources/webhooks/webhooks.service.ts';
import { WebhooksStore } from '../resources/webhooks/webhooks.store.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import { HostResolver } from '../shared/network/host-resolver.ts';
import { PeriodicTasks } from '../shared/scheduling/periodic-tasks.ts';
import { MediaFiles } from '../storage/media-files.ts';
import type { Database } from '../store/database.ts';

const tokensSweptEveryMs = 10 * 60_000;
const storageMeasuredEveryMs = 5_000;
const webhookTimeoutMs = 5_000;

/** What the API is made of. */
export interface ApiOptions {
  readonly bundles: BrowserBundles;
  readonly database: Database;
  readonly dataDir: string;
  /** Base of every address that is handed out, without a slash at its end; asked when needed, since ports are known late. */
  readonly publicUrl: () => string;
  readonly version: string;
  readonly rateLimits: RateLimits;
  /** Wrong API keys from one address; no limit unless given. */
  readonly maxWrongKeysPerMinute?: number;
  /** Limits on the storage and uploads of each project; none unless given. */
  readonly quotas?: QuotaLimits;
  readonly live: LiveControl;
  /** How broadcasts come in; without it, nothing is known of that. */
  readonly ingestHealth?: IngestHealthSources;
  /** What the rest of the server does for videos; without it, they are containers that nothing comes into. */
  readonly videos?: Partial<VideoWork>;
  /** How images are worked on; without it, no frames are made, watermarks are taken unseen, and nothing is marked. */
  readonly images?: Partial<ImageWork>;
  /** What is done with uploads; without it, chunks are not joined and sources not fetched. */
  readonly uploads?: Partial<UploadDependencies>;
  /** How far videos have come; without it, nothing is ever encoded. */
  readonly encodings?: EncodingView;
  /** Where events wait for webhooks; without it, nothing is sent to them. */
  readonly webhooks?: WebhookQueue;
  /** Sends tests of webhooks; one with the address rules of {@link UploadDependencies} unless given. */
  readonly webhookSender?: WebhookSender;
  /** How the destinations of what a live stream broadcasts do; without it, nothing is broadcast. */
  readonly restreams?: (liveStreamId: string) => readonly RestreamReport[] | undefined;
  /** Who listens to events; without it nobody can. */
  readonly feed?: EventFeed;
  /** How it is told where requests come from; as if there were no proxies unless given. */
  readonly peers?: PeerReaders;
  /** What of the analytics is not as it is by itself. */
  readonly analytics?: Partial<AnalyticsSettings>;
  readonly health: HealthOptions;
  /** What the rest of the server tells of itself; without it, there is no such rest. */
  readonly serverParts?: ServerComponents;
  /** Where encoders publish; asked when needed. */
  readonly ingest?: () => IngestAddresses;
  readonly log: Logger;
  readonly observer?: HttpObserver;
  readonly clock?: Clock;
  /** How long a sender of a body may be silent, or a JSON body may take. */
  readonly bodyTimeoutMs?: number;
}

/** What {@link VideosService} asks of others. */
export type VideoWork = Pick<
  VideosOptions,
  | 'restoreDays'
  | 'sources'
  | 'watermarkExists'
  | 'takeWatermark'
  | 'playerExists'
  | 'mp4Wished'
  | 'isAudioOnly'
  | 'removed'
>;

const noVideoWork: Omit<VideoWork, 'sources' | 'watermarkExists' | 'takeWatermark' | 'playerExists'> = {
  restoreDays: 0,
  mp4Wished: () => {},
  isAudioOnly: () => false,
  removed: async () => {},
};

/** What is known of the encoding of videos. */
export type EncodingView = Pick<VideoStatusSources, 'encodingOf' | 'isPlayable'>;

const noEncoding: EncodingView = { encodingOf: () => undefined, isPlayable: () => false };

/** What the images of the API ask of others. */
export interface ImageWork {
  /** Asks for the frame that a video is to show. In a transaction, and also for a video that has no media yet. */
  requestFrame(videoId: string): void;
  /** Whether a picture comes out of an image file. */
  readonly canDecode: WatermarksOptions['canDecode'];
  /** Burns the sandbox's watermark into an image. */
  readonly mark: AddSandboxWatermark;
  /** Largest image that is decoded: width times height. */
  readonly maxPixels: number;
}

const noImageWork: ImageWork = {
  requestFrame: () => {},
  canDecode: async () => true,
  mark: async (_path, { type }) => type,
  maxPixels: Number.POSITIVE_INFINITY,
};

const noUploadWork: UploadDependencies = {
  jobs: { add: () => {}, has: () => false, cancel: async () => {} },
  sourceReady: () => {},
  sourceFailed: () => {},
  hasEncodingFailed: () => false,
  sourceReplaced: () => {},
  minFreeBytes: 0,
  idleTimeoutMs: 60_000,
  sourceTimeoutMs: 24 * 3_600_000,
  minImportRate: { bytesPerSecond: 0, windowMs: 60_000 },
  allowPrivateTargets: false,
  resolve: hostname => new HostResolver().resolve(hostname),
};

const noServerParts: ServerComponents = {
  programs: [],
  minFreeBytes: 0,
  childPids: () => [],
  jobs: () => ({ waiting: 0, running: 0, isPaused: false }),
  live: () => ({ broadcasts: 0, viewers: 0 }),
};

/** The API, and what the rest of the server needs of it. */
export interface Api {
  readonly koa: Koa;
  /** The one to change accounts through. */
  readonly accounts: AccountsStore;
  readonly liveStreams: LiveStreamsService;
  readonly videos: VideosService;
  readonly thumbnails: VideoThumbnailsService<VideoView>;
  readonly watermarks: WatermarksService;
  readonly captions: TextTracksService;
  readonly chapters: TextTracksService;
  readonly players: PlayersService;
  /** Its jobs are to be registered. */
  readonly uploads: Uploads;
  readonly quotas: Quotas;
  readonly privateTokens: PrivateTokens;
  /** Its playbacks are to be started and stopped with the server. */
  readonly analytics: Analytics;
  /** To be started and stopped with the server. */
  readonly tokenSweeper: PeriodicTasks;
  /** What viewers are sent is counted here; to be started and stopped with the server. */
  readonly traffic: Traffic;
  /** To be started and stopped with the server. */
  readonly storageMeter: PeriodicTasks;
  /** To be stopped with the server. */
  readonly serverWatch: ServerMonitor;
  /** For the listener: what takes WebSockets. */
  readonly upgrades: readonly UpgradeHandler[];
  /** Base of the `type` of errors, for what answers beside Koa. */
  readonly docsBase: () => string;
  /** Returns the methods of a path of the API, the documentation or the dashboard; undefined when nothing answers there. */
  readonly allowedMethods: (path: string) => string | undefined;
  /** The documentation's pages, to be asked before Koa. */
  readonly docs: DocsPages;
  /** The dashboard's pages, likewise. */
  readonly dashboard: DashboardPages;
  /** The OpenAPI document. */
  readonly document: () => JsonObject;
}

/**
 * Puts the API together.
 *
 * @throws AppError `data-dir-unusable` when the folder for uploads cannot be made
 */
export function createApi(options: ApiOptions): Api {
  const { database, dataDir, publicUrl, log } = options;
  const clock = options.clock ?? systemClock;
  const docsBase = () => `${publicUrl()}/docs/errors`;
  const privateTokens = openPrivateTokens(database, clock);
  const accounts = new AccountsStore(database);
  const limiter = new RateLimiter(options.rateLimits, clock);
  const peers = options.peers ?? { addressOf: addressReader([]), isSecure: secureReader([]) };
  const wrongKeys = new WrongKeyLimit({ maxPerMinute: options.maxWrongKeysPerMinute ?? 0, clock });
  const auth = new AuthService({ database, accounts, limiter, wrongKeys, clock, log: log.child('auth') });
  const sessions = createSessions({
    ...{ accounts, publicUrl, peers, clock },
    log: log.child('auth'),
  });
  const authenticate: Authenticate = (request, setHeader) => {
    const { authorization } = request.headers;
    const environment = authorization === undefined ? environmentOf(request) : undefined;
    return environment === undefined
      ? auth.authenticate(authorization, peers.addressOf(request))
      : sessions.gate.callerIn(environment, request, setHeader);
  };
  const files = new MediaFiles(
    dataDir,
    missing => videos.makeRoom(missing),
    bytes => videos.canMakeRoom(bytes),
  );
  const images: ImageWork = { ...noImageWork, ...options.images };
  const mark: AddSandboxWatermark = async (path, image) => {
    requireMaxPixels(image, images.maxPixels);
    return images.mark(path, image);
  };
  const videosStore = new VideosStore(database);
  const liveStreamsStore = new LiveStreamsStore(database);
  const players = new PlayersService({
    store: new PlayersStore(database, [videosStore, liveStreamsStore]),
    files,
    baseUrl: publicUrl,
    clock,
  });
  const liveStreams = new LiveStreamsService({
    store: liveStreamsStore,
    thumbnails: new LiveThumbnailFiles(files, mark),
    live: options.live,
    privateTokens,
    baseUrl: publicUrl,
    players,
    clock,
  });
  const watermarks = new WatermarksService({
    store: new WatermarksStore(database),
    files,
    canDecode: async (path, image) => {
      requireMaxPixels(image, images.maxPixels);
      return images.canDecode(path, image);
    },
    clock,
  });
  const uploadWork: UploadDependencies = { ...noUploadWork, ...options.uploads };
  const usage = new UsageStore(database);
  const quotas = new Quotas({
    limits: options.quotas ?? { maxUploads: 0 },
    store: new QuotasStore(database),
    usage,
  });
  const uploads = createUploads({
    quotas,
    ...{ ...uploadWork, database, files, clock, log },
    videos: () => videos,
    addressOf: peers.addressOf,
  });
  const uploadTokens = new UploadTokensService({ store: new UploadTokensStore(database), clock });
  const videos: VideosService = new VideosService({
    ...noVideoWork,
    sources: uploads.importer,
    isReceiving: videoId => uploads.service.isReceiving(videoId),
    watermarkExists: (projectId, watermarkId) => watermarks.exists(projectId, watermarkId),
    takeWatermark: (videoId, watermarkId) => watermarks.copyFor(videoId, watermarkId),
    playerExists: (projectId, playerId) => players.exists(projectId, playerId),
    isPlayerRemoved: playerId => players.isRemoved(playerId),
    ...options.videos,
    store: videosStore,
    privateTokens,
    baseUrl: publicUrl,
    clock,
    log: log.child('videos'),
  });
  const tracks = {
    ...{ database, store: new TextTracksStore(database), videos, files, privateTokens },
    baseUrl: publicUrl,
  };
  const captions = new TextTracksService('captions', tracks);
  const chapters = new TextTracksService('chapters', tracks);
  const thumbnails = new VideoThumbnailsService<VideoView>({
    database,
    store: new VideoThumbnailsStore(database),
    videos,
    files,
    requestFrame: videoId => images.requestFrame(videoId),
    mark,
  });
  const webhookQueue = options.webhooks ?? new WebhookQueue(database);
  const webhookSender =
    options.webhookSender ??
    new WebhookSender({
      allowPrivateTargets: uploadWork.allowPrivateTargets,
      resolve: uploadWork.resolve,
      timeoutMs: webhookTimeoutMs,
    });
  const webhooks = new WebhooksService({
    store: new WebhooksStore(database),
    ...{ queue: webhookQueue, sender: webhookSender, clock },
  });
  const analytics = createAnalytics({
    reportsPerMinute: 6_000,
    geoDatabase: undefined,
    addressOf: addressReader([]),
    ...options.analytics,
    database,
    clock,
    log,
  });
  const traffic = new Traffic({ store: new TrafficStore(database), clock, log: log.child('usage') });
  const storage = new StorageMeter({
    store: new StorageMeterStore(database),
    ...{ files, clock, log: log.child('usage') },
  });
  const serverWatch = new ServerMonitor({
    version: options.version,
    dataDir,
    store: new ServerStateStore(database),
    components: options.serverParts ?? noServerParts,
    clock,
    log: log.child('server-watch'),
  });
  const ingest = options.ingest ?? (() => ({ rtmp: 'rtmp://localhost/s', rtmps: undefined }));
  const routes = [
    ...authRoutes(auth, peers.addressOf),
    ...sessions.routes,
    ...accountRoutes({
      accounts,
      keyPairs: new KeyPairsService({ store: new KeyPairsStore(database), accounts, clock }),
      limits: {
        webhooks: maxWebhooks,
        rates: options.rateLimits,
        videoRestoreDays: videos.restoreDays,
      },
      ingest,
    }),
    ...liveStreamRoutes(liveStreams),
    ...broadcastRoutes(
      new BroadcastsService({
        store: new BroadcastHistoryStore(database),
        ...(options.ingestHealth ?? { health: () => undefined, history: () => undefined }),
      }),
      liveStreams,
    ),
    ...restreamRoutes({
      configured: (projectId, liveStreamId) => liveStreams.find(projectId, liveStreamId)?.restreams,
      running: liveStreamId => options.restreams?.(liveStreamId),
    }),
    ...videoRoutes(videos),
    ...discardedVideoRoutes(videos),
    ...uploads.routes,
    ...videoStatusRoutes({
      hasVideo: (projectId, videoId) => videos.find(projectId, videoId) !== undefined,
      ingestOf: videoId => uploads.service.ingestOf(videoId),
      sourceFailureOf: videoId => uploads.service.failureOf(videoId),
      ...(options.encodings ?? noEncoding),
    }),
    ...uploadTokenRoutes(uploadTokens),
    ...videoThumbnailRoutes(thumbnails, videos),
    ...watermarkRoutes(watermarks),
    ...webhookRoutes(webhooks),
    ...deliveryRoutes(
      webhooks,
      new DeliveriesService({
        store: new DeliveriesStore(database),
        queue: webhookQueue,
        tester: new WebhookTester({
          ...{ queue: webhookQueue, sender: webhookSender, clock },
          version: options.version,
        }),
        clock,
      }),
    ),
    ...tagRoutes(new TagsStore(database)),
    ...summaryRoutes(
      new SummariesService({
        store: new SummariesStore(database),
        hasVideo: (projectId, videoId) => videos.find(projectId, videoId) !== undefined,
        clock,
      }),
    ),
    ...captionRoutes(captions),
    ...chapterRoutes(chapters),
    ...playerRoutes(players),
    ...analytics.routes,
    ...healthRoutes({ ...options.health, log: log.child('health') }),
    ...usageRoutes(new UsageService({ store: usage, traffic, quotas, clock })),
    ...serverStateRoutes({
      monitor: serverWatch,
      isOperator: accountId => accounts.find(accountId)?.isOperator === true,
    }),
    ...eventFeedRoutes(),
    ...errorDocRoutes(),
    ...rootRoutes({ version: options.version, publicUrl }),
  ];
  const documented = { version: options.version, publicUrl, docsBase };
  routes.push(apiDocumentRoute(routes, documented));
  const koa = createKoaApp({
    routes,
    authenticate,
    authenticateSession: (request, setHeader) => sessions.gate.sessionOf(request, setHeader),
    authenticateUpload: token => uploadTokens.authenticate(token),
    limiter,
    docsBase,
    uploadDir: emptyFolder(join(dataDir, 'incoming')),
    requireFreeSpace: bytes => files.expectRoom(bytes, uploadWork.minFreeBytes),
    log: log.child('api'),
    clock,
    ...(options.observer === undefined ? {} : { observer: options.observer }),
    ...(options.bodyTimeoutMs === undefined ? {} : { bodyTimeoutMs: options.bodyTimeoutMs }),
    ...(options.uploads?.idleTimeoutMs === undefined
      ? {}
      : { uploadIdleTimeoutMs: options.uploads.idleTimeoutMs }),
  });
  const tokenSweeper = new PeriodicTasks({
    name: 'token-sweeper',
    tasks: [tokenCleanup({ database, clock }), sessions.cleanup],
    everyMs: tokensSweptEveryMs,
    log: log.child('auth'),
  });
  const docs = new DocsPages({
    ...documented,
    bundles: options.bundles,
    ingestUrl: () => ingest().rtmp,
    rateLimits: options.rateLimits,
    log: log.child('docs'),
  });
  const dashboard = new DashboardPages({
    bundles: options.bundles,
    docsBase,
    log: log.child('dashboard'),
  });
  return {
    koa,
    allowedMethods: path => {
      if (dashboard.owns(path) || docs.owns(path)) return pageMethods;
      return koa.methodsOf(path).join(', ') || undefined;
    },
    upgrades:
      options.feed === undefined
        ? []
        : [eventFeedUpgrade({ feed: options.feed, authenticate, gate: sessions.gate, limiter })],
    accounts,
    liveStreams,
    videos,
    uploads,
    quotas,
    thumbnails,
    watermarks,
    captions,
    chapters,
    players,
    privateTokens,
    analytics,
    tokenSweeper,
    traffic,
    storageMeter: new PeriodicTasks({
      name: 'storage-meter',
      tasks: [{ name: 'measure-storage', run: signal => storage.run(signal) }],
      everyMs: storageMeasuredEveryMs,
      log: log.child('usage'),
    }),
    serverWatch,
    docsBase,
    docs,
    dashboard,
    document: () => apiDocument(routes, documented),
  };
}

/** Files that were being received when the server last stopped are of no use to anybody. */
function emptyFolder(path: string): string {
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    return path;
  } catch (error) {
    throw new AppError('data-dir-unusable', `The folder ${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
