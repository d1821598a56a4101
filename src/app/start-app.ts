import type { RunningSettings } from '../config/running-settings.ts';
import type { Config } from '../config/settings.ts';
import { ViewerCount } from '../delivery/live/viewer-count.ts';
import { EventFeed } from '../events/feed/event-feed.ts';
import type { FfmpegBuild } from '../ffmpeg/build/find-ffmpeg.ts';
import type { EncoderSelector } from '../ffmpeg/hardware/encoder-selector.ts';
import type { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RateLimits } from '../http/routing/rate-limiter.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { SrtServer } from '../ingest/srt/srt-server.ts';
import type { SmtpSettings } from '../mail/mailer.ts';
import { AccountsStore } from '../resources/identity/accounts/accounts.store.ts';
import { type BootstrapSecrets, bootstrapAccount } from '../resources/identity/accounts/bootstrap-account.ts';
import { PrivateSessionsStore } from '../resources/playback/private-sessions/private-sessions.store.ts';
import { ForwardedClips, openForwardedClips } from '../resources/videos/uploads/forwarded-clips.ts';
import { messageOf } from '../shared/errors.ts';
import { operatorCommand } from '../shared/installation.ts';
import { type Component, componentOf, Lifecycle } from '../shared/lifecycle.ts';
import type { WebRtcServer } from '../webrtc/webrtc-server.ts';
import { createAccess } from './access.ts';
import { createApi } from './api.ts';
import type { ApiOptions } from './api-options.ts';
import { type Broadcasts, createBroadcasts } from './broadcasts.ts';
import { checkedServer } from './checks.ts';
import { createClipEndpoint, createDelivery } from './delivery.ts';
import { type AppEnvironment, closeFoundation, type Foundation, openFoundation } from './foundation.ts';
import { createHooks, hookObserver } from './hooks.ts';
import { createHttpListener, createRtmpServer, createSrtServer } from './listeners.ts';
import { oidcSettings } from './oidc-settings.ts';
import {
  createHousekeeping,
  createIdleMemory,
  createNewestVersion,
  createNodeLoads,
  healthOptions,
  type MediaSide,
  processOwners,
  serverComponents,
  updateCheck,
} from './operations.ts';
import { createPlaybackGate } from './playback-gate.ts';
import { createVideoSide, liveClips } from './video-side.ts';
import type { VodServices } from './vod.ts';
import { createWebhookComponents, createWebhookSender } from './webhooks.ts';
import { createWebRtcServer, createWhepEndpoint, createWhipEndpoint } from './webrtc.ts';

export interface RunningApp {
  readonly publicUrl: string;
  readonly httpPort: number;
  readonly httpsPort: number | undefined;
  /** 0 without the role `ingest`. */
  readonly rtmpPort: number;
  readonly rtmpsPort: number | undefined;
  /** Undefined without the role `ingest`, and where WebRTC is turned off. */
  readonly webrtcPort: number | undefined;
  /** UDP. Undefined when SRT is off, and without the role `ingest`. */
  readonly srtPort: number | undefined;
  readonly dataDir: string;
  readonly ffmpeg: FfmpegBuild;
  readonly missingIsolation: Foundation['missingIsolation'];
  readonly encoders: Pick<EncoderSelector, 'state'>;
  /** True when HTTPS waits for the first certificate. */
  readonly lacksCertificate: boolean;
  /** Secrets of the first start on a data folder; shown once. */
  readonly firstSecrets: BootstrapSecrets | undefined;
  readonly ffmpegProcesses: () => number;
  /** Takes no new publishers and jobs, and moves broadcasts to other servers. Viewers and the API are still answered. */
  empty(): Promise<void>;
  /** Refuses new work and ends the old until `deadlineMs` (Unix time) or until `signal` aborts. */
  drain(deadlineMs: number, signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @throws AppError `data-dir-unusable`, `database-unusable`, `ffmpeg-unusable`, `isolation-unusable`, `tls-unusable`,
 * `listen-failed`
 */
export async function startApp(settings: RunningSettings, environment: AppEnvironment): Promise<RunningApp> {
  const foundation = await openFoundation(settings, environment);
  try {
    const server = await createServer(foundation);
    await server.lifecycle.start();
    server.state.phase = 'running';
    return runningApp(foundation, server);
  } catch (error) {
    await closeFoundation(foundation);
    throw error;
  }
}

interface ServerState {
  phase: 'starting' | 'running' | 'stopping';
  firstSecrets: BootstrapSecrets | undefined;
}

interface Server {
  readonly state: ServerState;
  readonly http: HttpListener;
  readonly rtmp: RtmpServer;
  readonly webRtc: WebRtcServer | undefined;
  readonly srt: SrtServer | undefined;
  readonly owners: readonly ProcessOwner[];
  readonly empty: () => Promise<void>;
  readonly lifecycle: Lifecycle;
}

async function createServer(foundation: Foundation): Promise<Server> {
  const { config, database, nodes, urls, clock, log } = foundation;
  const state: ServerState = { phase: 'starting', firstSecrets: undefined };
  const access = createAccess({ ...foundation, ...accessOptions(foundation) });
  const { vod, videoServices, recordings, recordingsStore } = await createVideoSide(foundation);
  const viewers = new ViewerCount(clock);
  const webhookSender = createWebhookSender(foundation);
  const hooks = createHooks(foundation, {
    sender: webhookSender,
    observer: hookObserver(foundation.metrics),
  });
  const broadcasts = await createBroadcasts(foundation, {
    vod,
    recordings,
    viewers,
    publishHook: hooks.publish,
  });
  const clipTokens = broadcasts.cluster === undefined ? undefined : await openForwardedClips(database, clock);
  videoServices.uploads.broadcastClips.connect(liveClips(foundation, { vod, broadcasts }, clipTokens));
  const media: MediaSide = { vod, broadcasts, recordings, viewers };
  const nodeLoads = createNodeLoads(foundation, media);
  const newestVersion = createNewestVersion(foundation);
  const rtmp = createRtmpServer(foundation, broadcasts.gate);
  const isIngest = config['node.roles'].includes('ingest');
  const srt = isIngest ? createSrtServer(foundation, broadcasts.gate) : undefined;
  const feed = createFeed(foundation, media);
  const health = healthOptions(foundation, media, rtmp, () => state.phase);
  const api = createApi({
    ...apiOptions(foundation, { vod, broadcasts }),
    access,
    videoServices,
    feed,
    webhookSender,
    hooks: hooks.service,
    health,
    checkedServer: checkedServer(foundation, health.checks, viewers),
    serverComponents: serverComponents(foundation, media, { nodeLoads, newestVersion }),
  });
  const sessions = new PrivateSessionsStore({ database, tokens: videoServices.privateTokens, clock });
  const playback = createPlaybackGate(foundation, api, { sessions, access, playHook: hooks.play });
  const deliveryParts = { api, broadcasts, videoServices, vod, viewers, playback };
  const delivery = createDelivery(foundation, deliveryParts);
  const webRtc = isIngest ? createWebRtcServer(foundation) : undefined;
  const whip = webRtc && createWhipEndpoint(foundation, webRtc, broadcasts.gate);
  const whep = createWhepEndpoint(foundation, webRtc, deliveryParts);
  const signaling = [...(whip === undefined ? [] : [whip]), ...(whep === undefined ? [] : [whep])];
  const endpoints = [
    ...signaling,
    ...(clipTokens === undefined ? [] : [new ForwardedClips(clipTokens, videoServices.videos, clock)]),
    createClipEndpoint(foundation, deliveryParts),
  ];
  const http = createHttpListener(foundation, api, delivery, endpoints);
  urls.connect(http, isIngest ? rtmp : undefined, srt, webRtc);
  const housekeeping = await createHousekeeping(foundation, {
    api,
    videoServices,
    vod,
    broadcasts,
    recordingsStore,
    sessions,
  });
  const ordered = foundation.certificate?.ordered;
  const components = [
    ...foundationComponents(foundation),
    housekeeping.useRecord,
    housekeeping.dataFolder,
    access.watch,
    access.tokenCleanup,
    ...(access.sessions.mails === undefined ? [] : [access.sessions.mails]),
    api.analytics.tracker,
    api.traffic,
    api.serverMonitor,
    api.checks,
    ...(nodeLoads === undefined ? [] : [nodeLoads]),
    ...(newestVersion === undefined ? [] : [updateCheck(foundation, newestVersion)]),
    componentOf('processes', { stop: () => foundation.processes.stop() }),
    ...vod.components,
    vod.jobs,
    ...createWebhookComponents(foundation, webhookSender),
    hooks.results,
    housekeeping.housekeeping,
    housekeeping.retention,
    http,
    feed,
    delivery,
    ...broadcasts.components,
    ...(isIngest ? [rtmp] : []),
    ...(webRtc === undefined ? [] : [webRtc]),
    ...signaling,
    ...(srt === undefined ? [] : [srt]),
    // Ports of 0 are known now.
    componentOf('node-addresses', { start: () => nodes.announce() }),
    ...(ordered === undefined ? [] : [ordered.createOrders(http)]),
    api.storageMeter,
    housekeeping.localSweeps,
    housekeeping.sweeps,
    createIdleMemory(foundation, { delivery, vod, broadcasts }),
    // Last: nothing may fail after its secrets are created, as they are shown only once.
    firstAccount(foundation, state),
  ];
  return {
    state,
    http,
    rtmp,
    srt,
    webRtc,
    owners: Object.values(processOwners(foundation, media)),
    empty: async () => {
      await Promise.all([
        rtmp.drain(),
        whip?.drain(),
        srt?.drain(),
        broadcasts.pulls.supervisor.drain(),
        vod.jobs.drain(),
        broadcasts.registry.drain(Date.now()),
      ]);
    },
    lifecycle: new Lifecycle(components, log.child('lifecycle')),
  };
}

function accessOptions({ config, urls }: Foundation) {
  return {
    publicUrl: urls.publicUrl,
    oidc: oidcSettings(config),
    smtp: smtpSettings(config),
    rateLimits: rateLimits(config),
    wrongKeyLimit: {
      get maxPerMinute() {
        return config['rateLimit.wrongKeys'];
      },
    },
  };
}

function smtpSettings(config: Config): SmtpSettings | undefined {
  const { 'smtp.host': host, 'smtp.from': from } = config;
  if (host === undefined || from === undefined) return undefined;
  return {
    host,
    from,
    port: config['smtp.port'],
    isSecure: config['smtp.secure'],
    ...given('user', config['smtp.user']),
    ...given('password', config['smtp.password']),
  };
}

function apiOptions(
  { config, urls, peers, metrics, outbox, ...foundation }: Foundation,
  { vod, broadcasts }: { vod: VodServices; broadcasts: Broadcasts },
) {
  const { registry, alarms, health, ingestLog, restreamer, cluster } = broadcasts;
  return {
    ...foundation,
    publicUrl: urls.publicUrl,
    frontPage: config.frontPage,
    ingest: urls.ingest,
    ingestPorts: urls.ports,
    rateLimits: rateLimits(config),
    encodings: {
      encodingOf: videoId => vod.encodings.state(videoId),
      delayOf: videoId => vod.jobs.delayOf(videoId),
      isPlayable: videoId => vod.playback.isPlayable(videoId),
    },
    minFreeBytes: () => config['uploads.minFree'],
    uploadIdleTimeoutMs: config['uploads.idleTimeout'],
    bodyTimeoutMs: config['http.requestTimeout'],
    live: cluster ?? registry,
    ingestHealth: {
      health: async liveStreamId => {
        const stats = registry.statsOf(liveStreamId);
        if (stats !== undefined) return { ...stats, alarms: alarms.raised(stats.broadcastId) };
        const report = await cluster?.report(liveStreamId);
        return report && { ...report.stats, alarms: report.alarms };
      },
      history: (liveStreamId, seconds) =>
        cluster?.emptyHistory(liveStreamId) ?? health.newest(liveStreamId, seconds),
      log: liveStreamId => ({
        connecting: registry.connectingOf(liveStreamId),
        entries: ingestLog.list(liveStreamId),
      }),
    },
    restreams: {
      ofStream: liveStreamId => restreamer.ofStream(liveStreamId),
      update: (liveStreamId, destinations) => {
        restreamer.update(liveStreamId, destinations);
        cluster?.settingsChanged(liveStreamId);
      },
    },
    liveQualities: () => config['live.qualities'],
    recentLog: () => foundation.environment.recentLog?.lines() ?? [],
    webhookQueue: outbox.webhooks,
    peers,
    analytics: {
      reportsPerMinute: config['analytics.reports'],
      geoDatabase: config['analytics.geoDatabase'],
      addressOf: peers.addressOf,
    },
    observer: metrics,
  } satisfies Partial<ApiOptions>;
}

function rateLimits(config: Config): RateLimits {
  return {
    get uploads() {
      return config['rateLimit.uploads'];
    },
    get writes() {
      return config['rateLimit.writes'];
    },
    get reads() {
      return config['rateLimit.reads'];
    },
    sandbox: {
      get uploads() {
        return config['rateLimit.sandboxUploads'] ?? config['rateLimit.uploads'];
      },
      get writes() {
        return config['rateLimit.sandboxWrites'] ?? config['rateLimit.writes'];
      },
      get reads() {
        return config['rateLimit.sandboxReads'] ?? config['rateLimit.reads'];
      },
    },
  };
}

function createFeed(
  { database, outbox, metrics, clock, log }: Foundation,
  { vod, broadcasts, viewers }: MediaSide,
): EventFeed {
  const { registry, restreamer, cluster } = broadcasts;
  const feed = new EventFeed({
    outbox,
    signals: database.signals,
    broadcasts: wants => [
      ...registry.stats(wants).map(stats => ({ ...stats, viewers: viewers.count(stats.liveStreamId) })),
      ...(cluster?.stats(wants) ?? []),
    ],
    restreams: wants => restreamer.stats(wants),
    projectOfVideo: async videoId => (await vod.encodings.request(videoId))?.projectId,
    observer: {
      clientOpened: () => metrics.feedClients.inc(),
      clientClosed: reason => {
        metrics.feedClients.dec();
        metrics.feedClosed.inc({ reason });
      },
      sent: (kind, count) => metrics.feedMessages.inc({ kind }, count),
      dropped: count => metrics.feedDropped.inc(count),
    },
    clock,
    log: log.child('events'),
  });
  vod.encodings.onProgress((videoId, renditions, percent) =>
    feed.encodingProgressed(videoId, renditions, percent),
  );
  return feed;
}

function foundationComponents({
  database,
  settings,
  nodes,
  storage,
  metrics,
  certificate,
}: Foundation): Component[] {
  const stopStorage = componentOf('storage', { stop: () => storage.s3?.stop() });
  const stopMetrics = componentOf('metrics', { stop: () => metrics.stop() });
  return [
    database,
    settings,
    nodes,
    stopStorage,
    stopMetrics,
    ...(certificate === undefined ? [] : [certificate.component]),
  ];
}

function firstAccount({ config, database, clock, log }: Foundation, state: ServerState): Component {
  return componentOf('first-account', {
    start: async () => {
      state.firstSecrets = await bootstrapAccount(database, {
        isUpgraded: config['bootstrap.upgraded'],
        adminEmail: config['admin.email'],
        clock,
        ...given('sandboxKey', config['bootstrap.sandboxKey']),
        ...given('productionKey', config['bootstrap.productionKey']),
        ...given('adminPassword', config['admin.password']),
        ...given('secretsFile', config['bootstrap.secretsFile']),
      });
      for (const { id: userId, former_email: email } of await new AccountsStore(
        database,
      ).listReplacedEmails()) {
        const advice = `Another user has this email address, or it is not valid. Run: ${operatorCommand('account', `email ${userId} ADDRESS`)}`;
        log.warn('email-address-replaced', { userId, email, advice });
      }
    },
  });
}

function runningApp(
  { config, urls, nodes, dataDir, ffmpeg, missingIsolation, encoders, certificate, log }: Foundation,
  server: Server,
): RunningApp {
  const { state, http, rtmp, srt, webRtc, owners, lifecycle } = server;
  const isIngest = config['node.roles'].includes('ingest');
  return {
    publicUrl: urls.publicUrl(),
    httpPort: http.httpPort,
    httpsPort: http.httpsPort,
    rtmpPort: isIngest ? rtmp.rtmpPort : 0,
    rtmpsPort: isIngest ? rtmp.rtmpsPort : undefined,
    webrtcPort: webRtc?.port,
    srtPort: srt?.port,
    dataDir,
    ffmpeg,
    missingIsolation,
    encoders,
    lacksCertificate: certificate !== undefined && certificate.source.secureContext() === undefined,
    firstSecrets: state.firstSecrets,
    ffmpegProcesses: () => owners.reduce((sum, owner) => sum + owner.running, 0),
    empty: async () => {
      await nodes.beginDrain();
      await server.empty();
    },
    drain: (deadlineMs, signal) => {
      state.phase = 'stopping';
      nodes
        .beginDrain()
        .catch((error: unknown) => log.warn('drain-not-announced', { error: messageOf(error) }));
      return lifecycle.drain(deadlineMs, signal);
    },
    stop: () => {
      state.phase = 'stopping';
      return lifecycle.stop();
    },
  };
}

/** Sets an option that may be absent but not undefined. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
