import { type Access, createAccess } from '../../src/app/access.ts';
import { type Api, createApi } from '../../src/app/api.ts';
import type { ApiOptions } from '../../src/app/api-options.ts';
import { createHooks } from '../../src/app/hooks.ts';
import {
  createVideoServices,
  type ImageWork,
  type VideoServices,
  type VideoWork,
} from '../../src/app/video-services.ts';
import { loadConfigWithOrigins } from '../../src/config/load-config.ts';
import { RunningSettings } from '../../src/config/running-settings.ts';
import { Outbox } from '../../src/events/outbox.store.ts';
import { WebhookQueue } from '../../src/events/webhooks/webhook-queue.store.ts';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { addressReader, secureReader } from '../../src/http/listener/client-address.ts';
import type { SmtpSettings } from '../../src/mail/mailer.ts';
import { ServerSettings } from '../../src/operations/settings/server-settings.ts';
import type { QuotaLimits } from '../../src/operations/usage/quotas.ts';
import type { AnalyticsSettings } from '../../src/resources/analytics/create-analytics.ts';
import type { OidcSettings } from '../../src/resources/identity/oidc/oidc-provider.ts';
import type { UploadDependencies } from '../../src/resources/videos/uploads/video-sources.ts';
import { VideoThumbnailFiles } from '../../src/resources/videos/videos/thumbnails/video-thumbnail-files.ts';
import { VideoThumbnailsStore } from '../../src/resources/videos/videos/thumbnails/video-thumbnails.store.ts';
import type { ModelJobs } from '../../src/resources/videos/videos/transcripts/caption-generation.ts';
import { TranscriptsStore } from '../../src/resources/videos/videos/transcripts/transcripts.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { HostResolver } from '../../src/shared/network/host-resolver.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import type { Database } from '../../src/store/database.ts';
import { testBundles } from './browser-bundles.ts';

/** The API without live streams, media work and webhooks behind it, except what a caller puts there. */
export interface DetachedApiOptions
  extends Partial<
    Pick<
      ApiOptions,
      | 'publicUrl'
      | 'rateLimits'
      | 'bodyTimeoutMs'
      | 'live'
      | 'restreams'
      | 'ingestHealth'
      | 'webhookQueue'
      | 'webhookSender'
      | 'feed'
      | 'peers'
      | 'health'
      | 'observer'
      | 'clock'
      | 'log'
    >
  > {
  readonly database: Database;
  readonly dataDir: string;
  readonly maxWrongKeysPerMinute?: number;
  readonly oidc?: OidcSettings | undefined;
  readonly smtp?: SmtpSettings;
  readonly quotas?: QuotaLimits;
  readonly videos?: Partial<VideoWork>;
  readonly images?: Partial<ImageWork>;
  readonly uploads?: Partial<UploadDependencies>;
  readonly captionGeneration?: Partial<ModelJobs>;
  readonly analytics?: Partial<AnalyticsSettings>;
  readonly storage?: MediaStorage;
}

/** The API with the services behind it. */
export type DetachedApi = Api &
  VideoServices &
  Pick<Access, 'accounts' | 'tokenCleanup'> &
  Pick<Access['sessions'], 'mails'> & { readonly thumbnailFiles: VideoThumbnailFiles };

const noVideoWork: VideoWork = {
  restoreDays: () => 0,
  mp4SupportChanged: async () => {},
  discarded: async () => {},
  restored: async () => {},
  removed: async () => {},
};

const noImageWork: ImageWork = {
  requestFrame: async () => {},
  canDecode: async () => true,
  mark: async (_path, { type }) => type,
  maxPixels: Number.POSITIVE_INFINITY,
};

const noModelJobs: ModelJobs = {
  canTranscribe: false,
  canSummarize: false,
  transcribe: async () => {},
  summarize: async () => {},
  withdraw: async () => {},
};

const noUploadWork: UploadDependencies = {
  jobs: {
    add: async () => {},
    has: async () => false,
    pauseDiscarded: async () => {},
    resumeRestored: async () => {},
    remove: async () => {},
    cancel: async () => {},
    awaitRemoved: async () => {},
  },
  clips: {
    secondsOf: async () => undefined,
    clipVideo: async () => {
      throw new Error('no media here');
    },
  },
  liveClips: { find: async () => undefined },
  sourceReady: async () => {},
  retryRecording: async () => {},
  retryEncoding: async () => false,
  sourceFailed: async () => {},
  hasEncodingFailed: async () => false,
  expectSource: () => {},
  sourceReplaced: async () => {},
  minFreeBytes: () => 0,
  idleTimeoutMs: 60_000,
  sourceTimeoutMs: () => 24 * 3_600_000,
  minImportRate: { bytesPerSecond: 0, windowMs: 60_000 },
  allowPrivateTargets: false,
  resolve: hostname => new HostResolver().resolve(hostname),
};

const parts: Omit<
  ApiOptions,
  | 'database'
  | 'dataDir'
  | 'files'
  | 'access'
  | 'settings'
  | 'videoServices'
  | 'webhookQueue'
  | 'webhookSender'
  | 'hooks'
  | 'checkedServer'
> = {
  bundles: testBundles,
  publicUrl: () => 'http://localhost:8080',
  ingest: () => ({ rtmp: 'rtmp://localhost/s', rtmps: undefined, srt: undefined, whip: undefined }),
  ingestPorts: () => ({ rtmp: 1935, rtmps: null, srt: null, webrtc: null }),
  version: '0.0.0',
  recentLog: () => [],
  rateLimits: { uploads: 0, writes: 0, reads: 0 },
  encodings: {
    encodingOf: async () => undefined,
    delayOf: async () => undefined,
    isPlayable: async () => false,
  },
  minFreeBytes: () => 0,
  uploadIdleTimeoutMs: 60_000,
  bodyTimeoutMs: 60_000,
  live: { isBroadcasting: () => false, complete: () => {}, remove: async () => {} },
  ingestHealth: { health: () => undefined, history: () => undefined },
  restreams: { ofStream: () => undefined, update: () => {} },
  liveQualities: () => 'passthrough',
  feed: undefined,
  peers: { addressOf: addressReader([]), isSecure: secureReader([]) },
  analytics: { reportsPerMinute: 6_000, geoDatabase: undefined, addressOf: addressReader([]) },
  health: {
    checks: [],
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: async () => '' },
  },
  serverComponents: {
    programs: [],
    isolation: { isActive: true },
    encoder: () => ({ kind: 'software' }),
    minFreeBytes: 0,
    codecs: ['h264'],
    recordingLagSeconds: () => 0,
    childPids: () => [],
    jobs: async () => ({ waiting: 0, running: 0, isPaused: false }),
    live: () => ({ broadcasts: 0, viewers: 0 }),
    nodes: async () => undefined,
  },
  observer: { observeRequest: () => {} },
  clock: systemClock,
  log: silentLogger,
};

/** Puts such an API together; nothing of it is started. */
export async function createDetachedApi(options: DetachedApiOptions): Promise<DetachedApi> {
  const {
    database,
    dataDir,
    maxWrongKeysPerMinute = 0,
    quotas = { maxUploads: 0 },
    smtp,
    ...given
  } = options;
  const { videos, images, captionGeneration, uploads, analytics, storage, oidc, ...overrides } = given;
  const merged = { ...parts, ...overrides, analytics: { ...parts.analytics, ...analytics } };
  const { publicUrl, peers, rateLimits, clock, log } = merged;
  const uploadWork = { ...noUploadWork, ...uploads };
  const files = new MediaFiles(dataDir, storage);
  const thumbnailsStore = new VideoThumbnailsStore(database);
  const thumbnailFiles = new VideoThumbnailFiles(thumbnailsStore, files);
  const access = createAccess({
    database,
    publicUrl,
    oidc,
    smtp,
    peers,
    rateLimits,
    wrongKeyLimit: { maxPerMinute: maxWrongKeysPerMinute },
    clock,
    log,
  });
  const videoServices = await createVideoServices({
    database,
    files,
    thumbnailFiles,
    thumbnailsStore,
    publicUrl,
    quotas,
    clock,
    log,
    addressOf: peers.addressOf,
    videos: { ...noVideoWork, ...videos },
    images: { ...noImageWork, ...images },
    captionGeneration: {
      transcripts: new TranscriptsStore(database, new Outbox(database, log), clock),
      generation: { ...noModelJobs, ...captionGeneration },
    },
    uploads: uploadWork,
  });
  const sender = merged.webhookSender ?? unreachableSender;
  const hooks = createHooks(
    { database, version: parts.version, clock, log },
    { sender, observer: { requested: () => {} } },
  );
  const api = createApi({
    webhookQueue: new WebhookQueue(database),
    webhookSender: sender,
    hooks: hooks.service,
    checkedServer: () => ({
      dataDir,
      database,
      clock,
      minFreeBytes: 0,
      maxConnections: { http: 1, rtmp: 1 },
      programs: async () => ({ ffmpeg: { ...program, isOutdated: false }, ffprobe: program }),
      encoders: async () => new Set(['libx264', 'aac']),
      codecs: [],
      isHardwareWanted: false,
      missingIsolation: async () => undefined,
    }),
    ...merged,
    database,
    dataDir,
    files,
    access,
    videoServices,
    settings: new ServerSettings({
      settings: new RunningSettings(loadConfigWithOrigins({ env: {} })),
      database,
      log,
    }),
    minFreeBytes: uploadWork.minFreeBytes,
    uploadIdleTimeoutMs: uploads?.idleTimeoutMs ?? merged.bodyTimeoutMs,
  });
  const { accounts, tokenCleanup } = access;
  const { mails } = access.sessions;
  return { ...api, ...videoServices, accounts, mails, tokenCleanup, thumbnailFiles };
}

const program = { path: '/usr/bin/ffmpeg', version: '7.1' };

/** Knows no name, so that nothing is sent. */
const unreachableSender = new WebhookSender({
  allowPrivateTargets: false,
  resolve: () => Promise.reject(Object.assign(new Error('unknown host'), { code: 'ENOTFOUND' })),
  timeoutMs: 5_000,
});
