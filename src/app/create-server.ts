import type { Config } from '../config/settings.ts';
import { EventFeed } from '../events/feed/event-feed.ts';
import type { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { HttpListener } from '../http/listener/http-listener.ts';
import type { RateLimits } from '../http/routing/rate-limiter.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { SrtServer } from '../ingest/srt/srt-server.ts';
import type { WhipEndpoint } from '../ingest/whip/whip-endpoint.ts';
import type { SmtpSettings } from '../mail/mailer.ts';
import { AccountsStore } from '../resources/identity/accounts/accounts.store.ts';
import { type BootstrapSecrets, bootstrapAccount } from '../resources/identity/accounts/bootstrap-account.ts';
import { unseenSecretsFile } from '../resources/identity/accounts/secrets-file.ts';
import { PrivateSessionsStore } from '../resources/playback/private-sessions/private-sessions.store.ts';
import { ForwardedClips } from '../resources/videos/uploads/forwarded-clips.ts';
import { operatorCommand } from '../shared/installation.ts';
import { type Component, componentOf, Lifecycle } from '../shared/lifecycle.ts';
import type { WebRtcServer } from '../webrtc/webrtc-server.ts';
import { type Access, createAccess } from './access.ts';
import { createApi } from './api.ts';
import type { ApiOptions } from './api-options.ts';
import { checkedServer } from './checks.ts';
import { createClipEndpoint, createDelivery } from './delivery.ts';
import type { Foundation } from './foundation.ts';
import { createHooks, hookObserver } from './hooks.ts';
import { createHttpListener, createRtmpServer, createSrtServer } from './listeners.ts';
import { createMediaSide, type MediaSide } from './media-side.ts';
import { oidcSettings } from './oidc-settings.ts';
import {
  createHousekeeping,
  createIdleMemory,
  createNewestVersion,
  createNodeLoads,
  type Housekeeping,
  healthOptions,
  processOwners,
  serverComponents,
  updateCheck,
} from './operations.ts';
import { createPlaybackGate } from './playback-gate.ts';
import { createWebhookComponents, createWebhookSender } from './webhooks.ts';
import { createWebRtcServer, createWhepEndpoint, createWhipEndpoint } from './webrtc.ts';

interface ServerState {
  phase: 'starting' | 'running' | 'stopping';
  firstSecrets: BootstrapSecrets | undefined;
}

export interface Server {
  readonly state: ServerState;
  readonly http: HttpListener;
  readonly rtmp: RtmpServer;
  readonly webRtc: WebRtcServer | undefined;
  readonly srt: SrtServer | undefined;
  readonly owners: readonly ProcessOwner[];
  readonly empty: () => Promise<void>;
  readonly lifecycle: Lifecycle;
}

/** Creates each part after those that it uses. */
export async function createServer(foundation: Foundation): Promise<Server> {
  const state: ServerState = { phase: 'starting', firstSecrets: undefined };
  const access = createAccess({ ...foundation, ...accessOptions(foundation) });
  const integrations = createIntegrations(foundation);
  const media = await createMediaSide(foundation, integrations.hooks.publish);
  const ingest = createIngest(foundation, media.broadcasts.gate);
  const control = createControl(foundation, { state, access, integrations, media, ingest });
  const front = createFront(foundation, { access, integrations, media, ingest, control });
  const housekeeping = await createHousekeeping(foundation, media, {
    api: control.api,
    sessions: front.sessions,
  });
  const components = componentsOf(foundation, {
    state,
    access,
    integrations,
    media,
    ingest,
    control,
    front,
    housekeeping,
  });
  const { rtmp, srt, webRtc } = ingest;
  return {
    state,
    rtmp,
    srt,
    webRtc,
    http: front.http,
    owners: Object.values(processOwners(foundation, media)),
    empty: () => emptyServer(ingest, media),
    lifecycle: new Lifecycle(components, foundation.log.child('lifecycle')),
  };
}

interface ServerParts {
  readonly state: ServerState;
  readonly access: Access;
  readonly integrations: ReturnType<typeof createIntegrations>;
  readonly media: MediaSide;
  readonly ingest: Ingest;
  readonly control: ReturnType<typeof createControl>;
  readonly front: ReturnType<typeof createFront>;
  readonly housekeeping: Housekeeping;
}

/** Undefined: turned off, or a server without the role `ingest`. */
interface Ingest {
  readonly rtmp: RtmpServer;
  readonly srt: SrtServer | undefined;
  readonly webRtc: WebRtcServer | undefined;
  readonly whip: WhipEndpoint | undefined;
}

function createIntegrations(foundation: Foundation) {
  const webhookSender = createWebhookSender(foundation);
  const observer = hookObserver(foundation.metrics);
  return { webhookSender, hooks: createHooks(foundation, { sender: webhookSender, observer }) };
}

function createIngest(foundation: Foundation, gate: PublishGate): Ingest {
  const rtmp = createRtmpServer(foundation, gate);
  if (!isIngest(foundation)) return { rtmp, srt: undefined, webRtc: undefined, whip: undefined };
  const srt = createSrtServer(foundation, gate);
  const webRtc = createWebRtcServer(foundation);
  return { rtmp, srt, webRtc, whip: webRtc && createWhipEndpoint(foundation, webRtc, gate) };
}

function isIngest({ config }: Foundation): boolean {
  return config['node.roles'].includes('ingest');
}

/** The API, and what it tells about the server. */
function createControl(
  foundation: Foundation,
  {
    state,
    access,
    integrations,
    media,
    ingest,
  }: Pick<ServerParts, 'state' | 'access' | 'integrations' | 'media' | 'ingest'>,
) {
  const nodeLoads = createNodeLoads(foundation, media);
  const newestVersion = createNewestVersion(foundation);
  const feed = createFeed(foundation, media);
  const health = healthOptions(foundation, media, ingest.rtmp, () => state.phase);
  const api = createApi({
    ...apiOptions(foundation, media),
    access,
    videoServices: media.videoServices,
    feed,
    webhookSender: integrations.webhookSender,
    hooks: integrations.hooks.service,
    health,
    checkedServer: checkedServer(foundation, health.checks, media.viewers),
    serverComponents: serverComponents(foundation, media, { nodeLoads, newestVersion }),
  });
  return { api, feed, nodeLoads, newestVersion };
}

/** Everything that HTTP reaches. */
function createFront(
  foundation: Foundation,
  {
    access,
    integrations,
    media,
    ingest,
    control: { api },
  }: Pick<ServerParts, 'access' | 'integrations' | 'media' | 'ingest' | 'control'>,
) {
  const { database, urls, clock } = foundation;
  const { videoServices, clipTokens } = media;
  const { rtmp, srt, webRtc, whip } = ingest;
  const sessions = new PrivateSessionsStore({ database, tokens: videoServices.privateTokens, clock });
  const playback = createPlaybackGate(foundation, api, {
    sessions,
    access,
    playHook: integrations.hooks.play,
  });
  const deliveryParts = { ...media, api, playback };
  const delivery = createDelivery(foundation, deliveryParts);
  const whep = createWhepEndpoint(foundation, webRtc, deliveryParts);
  const signaling = [whip, whep].filter(endpoint => endpoint !== undefined);
  const http = createHttpListener(foundation, api, delivery, [
    ...signaling,
    ...(clipTokens === undefined ? [] : [new ForwardedClips(clipTokens, videoServices.videos, clock)]),
    createClipEndpoint(foundation, deliveryParts),
  ]);
  urls.connect(http, isIngest(foundation) ? rtmp : undefined, srt, webRtc);
  return { sessions, delivery, signaling, http };
}

/** All components, in the order in which they start. */
function componentsOf(foundation: Foundation, parts: ServerParts): Component[] {
  const { state, access, integrations, media, ingest, control, front, housekeeping } = parts;
  const { vod, broadcasts } = media;
  const { api, newestVersion } = control;
  const components: (Component | undefined)[] = [
    ...foundationComponents(foundation),
    housekeeping.useRecord,
    housekeeping.dataFolder,
    access.watch,
    access.tokenCleanup,
    access.sessions.mails,
    api.analytics.tracker,
    api.traffic,
    api.serverMonitor,
    api.checks,
    control.nodeLoads,
    newestVersion && updateCheck(foundation, newestVersion),
    componentOf('processes', { stop: () => foundation.processes.stop() }),
    ...vod.components,
    vod.jobs,
    ...createWebhookComponents(foundation, integrations.webhookSender),
    integrations.hooks.results,
    housekeeping.housekeeping,
    housekeeping.retention,
    front.http,
    control.feed,
    front.delivery,
    ...broadcasts.components,
    isIngest(foundation) ? ingest.rtmp : undefined,
    ingest.webRtc,
    ...front.signaling,
    ingest.srt,
    // Ports of 0 are known now.
    componentOf('node-addresses', { start: () => foundation.nodes.announce() }),
    foundation.certificate?.ordered?.createOrders(front.http),
    api.storageMeter,
    housekeeping.localSweeps,
    housekeeping.sweeps,
    createIdleMemory(foundation, { delivery: front.delivery, vod, broadcasts }),
    // Last: nothing may fail after its secrets are created, as they are shown only once.
    firstAccount(foundation, state),
  ];
  return components.filter(component => component !== undefined);
}

async function emptyServer({ rtmp, whip, srt }: Ingest, { vod, broadcasts }: MediaSide): Promise<void> {
  await Promise.all([
    rtmp.drain(),
    whip?.drain(),
    srt?.drain(),
    broadcasts.pulls.supervisor.drain(),
    vod.jobs.drain(),
    broadcasts.registry.drain(Date.now()),
  ]);
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
  { vod, broadcasts }: MediaSide,
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
      log: (liveStreamId, address) => ({
        connecting: registry.connectingOf(liveStreamId),
        entries: ingestLog.list(liveStreamId, address),
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

function firstAccount({ config, database, dataDir, clock, log }: Foundation, state: ServerState): Component {
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
        unseenFile: unseenSecretsFile(dataDir),
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

/** Sets an option that may be absent but not undefined. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}
