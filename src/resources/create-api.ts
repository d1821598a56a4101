import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Koa from 'koa';
import type { EventFeed } from '../events/feed/event-feed.ts';
import { WebhookQueue } from '../events/webhook-queue.store.ts';
import { WebhookSender } from '../events/webhook-sender.ts';
import { WebhookTester } from '../events/webhook-tester.ts';
import type { Authenticate } from '../http/caller.ts';
import { createKoaApp, type HttpObserver } from '../http/koa-app.ts';
import type { JsonObject } from '../http/openapi-schemas.ts';
import { pageMethods } from '../http/page-answers.ts';
import { addressReader, secureReader } from '../http/peer.ts';
import { RateLimiter, type RateLimits } from '../http/rate-limiter.ts';
import type { UpgradeDoor } from '../http/upgrade-door.ts';
import { requirePixels } from '../http/uploaded-image.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import { HostResolver } from '../shared/host-resolver.ts';
import type { Logger } from '../shared/logger.ts';
import { PeriodicTasks } from '../shared/periodic-tasks.ts';
import { MediaFiles } from '../storage/media-files.ts';
import type { Database } from '../store/database.ts';
import { accountRoutes, type IngestAddresses } from './accounts/account.routes.ts';
import { AccountsStore } from './accounts/accounts.store.ts';
import { KeyPairsService } from './accounts/key-pairs.service.ts';
import { KeyPairsStore } from './accounts/key-pairs.store.ts';
import { type Analytics, type AnalyticsSettings, createAnalytics } from './analytics/create-analytics.ts';
import { authRoutes } from './auth/auth.routes.ts';
import { AuthService } from './auth/auth.service.ts';
import { tokenChore } from './auth/token-chore.ts';
import { WrongKeyLimit } from './auth/wrong-key-limit.ts';
import { BroadcastHistoryStore } from './broadcasts/broadcast-history.store.ts';
import { broadcastRoutes } from './broadcasts/broadcasts.routes.ts';
import { BroadcastsService, type IngestHealthSources } from './broadcasts/broadcasts.service.ts';
import { captionRoutes } from './captions/captions.routes.ts';
import { TextTracksService } from './captions/text-tracks.service.ts';
import { TextTracksStore } from './captions/text-tracks.store.ts';
import { chapterRoutes } from './chapters/chapters.routes.ts';
import { DashboardPages } from './dashboard/dashboard-pages.ts';
import { discardedVideoRoutes } from './discarded-videos/discarded-videos.routes.ts';
import { apiDocument, apiDocumentRoute } from './docs/api-document.ts';
import { DocsPages } from './docs/docs-pages.ts';
import { errorDocRoutes } from './error-docs/error-docs.routes.ts';
import { eventFeedDoor } from './event-feed/event-feed.door.ts';
import { eventFeedRoutes } from './event-feed/event-feed.routes.ts';
import { type HealthOptions, healthRoutes } from './health/health.routes.ts';
import type { LiveControl } from './live-streams/live-control.ts';
import { liveStreamRoutes } from './live-streams/live-streams.routes.ts';
import { LiveStreamsService } from './live-streams/live-streams.service.ts';
import { LiveStreamsStore } from './live-streams/live-streams.store.ts';
import { ThumbnailFiles } from './live-streams/thumbnail-files.ts';
import { playerRoutes } from './players/players.routes.ts';
import { PlayersService } from './players/players.service.ts';
import { PlayersStore } from './players/players.store.ts';
import { openPrivateTokens, type PrivateTokens } from './private-tokens/private-tokens.store.ts';
import { type RestreamReport, restreamRoutes } from './restreams/restreams.routes.ts';
import { rootRoutes } from './root/root.routes.ts';
import { serverStateRoutes } from './server-state/server-state.routes.ts';
import { ServerStateStore } from './server-state/server-state.store.ts';
import { type ServerParts, ServerWatch } from './server-state/server-watch.ts';
import { createSessions, type PeerReaders } from './sessions/create-sessions.ts';
import { environmentOf } from './sessions/session-gate.ts';
import { summaryRoutes } from './summaries/summaries.routes.ts';
import { SummariesService } from './summaries/summaries.service.ts';
import { SummariesStore } from './summaries/summaries.store.ts';
import { tagRoutes } from './tags/tags.routes.ts';
import { TagsStore } from './tags/tags.store.ts';
import { uploadTokenRoutes } from './upload-tokens/upload-tokens.routes.ts';
import { UploadTokensService } from './upload-tokens/upload-tokens.service.ts';
import { UploadTokensStore } from './upload-tokens/upload-tokens.store.ts';
import { createUploads, type Uploads, type UploadWork } from './uploads/create-uploads.ts';
import { QuotasStore } from './usage/quotas.store.ts';
import { type QuotaLimits, Quotas } from './usage/quotas.ts';
import { StorageMeterStore } from './usage/storage-meter.store.ts';
import { StorageMeter } from './usage/storage-meter.ts';
import { TrafficStore } from './usage/traffic.store.ts';
import { Traffic } from './usage/traffic.ts';
import { usageRoutes } from './usage/usage.routes.ts';
import { UsageService } from './usage/usage.service.ts';
import { UsageStore } from './usage/usage.store.ts';
import { type VideoStatusSources, videoStatusRoutes } from './video-status/video-status.routes.ts';
import type { MarkImage } from './video-thumbnails/received-thumbnail.ts';
import { videoThumbnailRoutes } from './video-thumbnails/video-thumbnails.routes.ts';
import { VideoThumbnailsService } from './video-thumbnails/video-thumbnails.service.ts';
import { ThumbnailsStore } from './video-thumbnails/video-thumbnails.store.ts';
import { videoRoutes } from './videos/videos.routes.ts';
import type { VideoView } from './videos/videos.schema.ts';
import { type VideosOptions, VideosService } from './videos/videos.service.ts';
import { VideosStore } from './videos/videos.store.ts';
import { watermarkRoutes } from './watermarks/watermarks.routes.ts';
import { type WatermarksOptions, WatermarksService } from './watermarks/watermarks.service.ts';
import { WatermarksStore } from './watermarks/watermarks.store.ts';
import { deliveryRoutes } from './webhooks/deliveries.routes.ts';
import { DeliveriesService } from './webhooks/deliveries.service.ts';
import { DeliveriesStore } from './webhooks/deliveries.store.ts';
import { webhooksAtMost } from './webhooks/webhook.ts';
import { webhookRoutes } from './webhooks/webhooks.routes.ts';
import { WebhooksService } from './webhooks/webhooks.service.ts';
import { WebhooksStore } from './webhooks/webhooks.store.ts';

const tokensSweptEveryMs = 10 * 60_000;
const storageMeasuredEveryMs = 5_000;
const webhookTimeoutMs = 5_000;

/** What the API is made of. */
export interface ApiOptions {
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
  readonly uploads?: Partial<UploadWork>;
  /** How far videos have come; without it, nothing is ever encoded. */
  readonly encodings?: EncodingView;
  /** Where events wait for webhooks; without it, nothing is sent to them. */
  readonly webhooks?: WebhookQueue;
  /** Sends tests of webhooks; one with the address rules of {@link UploadWork} unless given. */
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
  readonly serverParts?: ServerParts;
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
  readonly mark: MarkImage;
  /** Largest image that is decoded: width times height. */
  readonly maxPixels: number;
}

const noImageWork: ImageWork = {
  requestFrame: () => {},
  canDecode: async () => true,
  mark: async (_path, { type }) => type,
  maxPixels: Number.POSITIVE_INFINITY,
};

const noUploadWork: UploadWork = {
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

const noServerParts: ServerParts = {
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
  readonly serverWatch: ServerWatch;
  /** For the listener: what takes WebSockets. */
  readonly upgrades: readonly UpgradeDoor[];
  /** Base of the `type` of errors, for what answers beside Koa. */
  readonly docsBase: () => string;
  /** Returns the methods of a path of the API, the documentation or the dashboard; undefined when nothing answers there. */
  readonly allowedMethods: (path: string) => string | undefined;
  /** The documentation's pages, to be asked before Koa. */
  readonly docs: DocsPages;
  /** The dashboard, likewise; to be started and stopped with the server. */
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
    ...{ database, accounts, publicUrl, clock, log: log.child('auth') },
    peers,
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
  const mark: MarkImage = async (path, image) => {
    requirePixels(image, images.maxPixels);
    return images.mark(path, image);
  };
  const players = new PlayersService({
    store: new PlayersStore(database),
    files,
    baseUrl: publicUrl,
    clock,
  });
  const liveStreams = new LiveStreamsService({
    store: new LiveStreamsStore(database),
    thumbnails: new ThumbnailFiles(files, mark),
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
      requirePixels(image, images.maxPixels);
      return images.canDecode(path, image);
    },
    clock,
  });
  const uploadWork: UploadWork = { ...noUploadWork, ...options.uploads };
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
    sources: uploads.intake,
    isArriving: videoId => uploads.service.isArriving(videoId),
    watermarkExists: (projectId, watermarkId) => watermarks.exists(projectId, watermarkId),
    takeWatermark: (videoId, watermarkId) => watermarks.copyFor(videoId, watermarkId),
    playerExists: (projectId, playerId) => players.exists(projectId, playerId),
    isPlayerRemoved: playerId => players.isRemoved(playerId),
    ...options.videos,
    store: new VideosStore(database),
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
    store: new ThumbnailsStore(database),
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
  const serverWatch = new ServerWatch({
    version: options.version,
    dataDir,
    store: new ServerStateStore(database),
    parts: options.serverParts ?? noServerParts,
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
        webhooks: webhooksAtMost,
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
      watch: serverWatch,
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
    expectRoom: bytes => files.expectRoom(bytes, uploadWork.minFreeBytes),
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
    tasks: [tokenChore({ database, clock }), sessions.chore],
    everyMs: tokensSweptEveryMs,
    log: log.child('auth'),
  });
  const docs = new DocsPages({
    ...documented,
    ingestUrl: () => ingest().rtmp,
    rateLimits: options.rateLimits,
    log: log.child('docs'),
  });
  const dashboard = new DashboardPages({
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
        : [eventFeedDoor({ feed: options.feed, authenticate, gate: sessions.gate, limiter })],
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
