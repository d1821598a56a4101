import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { removeStaleSnapshots } from '../cli/backup/file-snapshot.ts';
import type { Config } from '../config/settings.ts';
import { Delivery } from '../delivery/delivery.ts';
import { EventFeed } from '../events/feed/event-feed.ts';
import { Outbox } from '../events/outbox.store.ts';
import { BuildVersionCache } from '../ffmpeg/build/build-version-cache.ts';
import { type FfmpegBuild, findFfmpeg, findFfprobe } from '../ffmpeg/build/find-ffmpeg.ts';
import { ImageQueue } from '../ffmpeg/image-queue.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import { ProcessLimits } from '../ffmpeg/process/process-limits.ts';
import { CertificateFiles } from '../http/listener/certificate-files.ts';
import { addressReader, secureReader, trustedProxyCheck } from '../http/listener/client-address.ts';
import { HttpListener } from '../http/listener/http-listener.ts';
import { BrowserBundles } from '../http/pages/browser-bundles.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { BroadcastState, EndReason } from '../live/broadcast/broadcast-state.ts';
import { AlarmMonitor } from '../live/health/alarm-monitor.ts';
import { HealthSampler } from '../live/health/health-sampler.ts';
import { FfmpegPackager } from '../live/packaging/ffmpeg-packager.ts';
import { openSlate } from '../live/slate/slate-source.ts';
import type { LadderConfig } from '../live/transcode/ladder-config.ts';
import { Metrics } from '../metrics/metrics.ts';
import { SweepStore } from '../operations/housekeeping/sweep.store.ts';
import { Sweep } from '../operations/housekeeping/sweep.ts';
import { type BootstrapSecrets, bootstrapAccount } from '../resources/accounts/bootstrap-account.ts';
import { BroadcastHistoryStore } from '../resources/broadcasts/broadcast-history.store.ts';
import { BroadcastsStore } from '../resources/broadcasts/broadcasts.store.ts';
import { PrivateSessionsStore } from '../resources/private-sessions/private-sessions.store.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { missingDescriptors, readDescriptorLimit } from '../shared/files/descriptor-limit.ts';
import { componentOf, Lifecycle } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { HostResolver } from '../shared/network/host-resolver.ts';
import { type SandboxLimits, sandboxLimits as usualSandboxRules } from '../shared/sandbox-limits.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import { PeriodicTasks } from '../shared/scheduling/periodic-tasks.ts';
import { makeDataFolderPrivate } from '../storage/data-folder-permissions.ts';
import { openDatabase } from '../store/database.ts';
import { createApi } from './api.ts';
import { createLiveServices } from './live.ts';
import { createRestreaming } from './restreaming.ts';
import { createTranscoding } from './transcode.ts';
import { createVodServices, fileBody } from './vod.ts';
import { createWebhookComponents, createWebhookSender } from './webhooks.ts';

/** A server that runs. */
export interface RunningApp {
  /** Base of every address, without a slash at its end. */
  readonly publicUrl: string;
  readonly httpPort: number;
  readonly httpsPort: number | undefined;
  readonly rtmpPort: number;
  readonly rtmpsPort: number | undefined;
  readonly dataDir: string;
  readonly ffmpeg: FfmpegBuild;
  /** Only at the first start on a data folder; to be shown once. */
  readonly firstSecrets: BootstrapSecrets | undefined;
  /** Children that run. */
  readonly ffmpegProcesses: () => number;
  /** Refuses new work and ends the old until `deadlineMs`, a time of {@link Date.now}; `signal` cuts that short. */
  drain(deadlineMs: number, signal?: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** What the process edge hands in. */
export interface AppEnvironment {
  readonly log: Logger;
  /** Of this process: programs are looked for on its PATH, and children get a few of them. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Sizes that broadcasts are encoded in, other than usual, for tests. */
  readonly liveSteps?: LadderConfig['renditionsFor'];
  /** False keeps all qualities of broadcasts although the machine cannot keep up, for tests. */
  readonly canDropQualities?: boolean;
  /** Times of the sandbox that are shorter than usual, for tests. */
  readonly sandboxRules?: Partial<SandboxLimits>;
  /** Free bytes of the disk as recordings see them, for tests; else as it is. */
  readonly freeBytes?: () => Promise<number>;
}

/** A broadcast of 720p takes a third of a core, six tenths with a ladder and the watermark; quality gives way where that is too much. */
const encodersPerCore = 4;
/** How long an ended broadcast can still be played to its end. */
const endedKeptMs = 60_000;
/** The contract keeps a publisher for at most this long after `complete`. */
const completedLingerMs = 60_000;
/** Encoding takes so long where nothing is in its way. */
const usualRungLagMs = 400;
/** One slow moment does not fail an import. */
const importRateWindowMs = 60_000;
const housekeepingEveryMs = 3_600_000;
const suspensionEveryMs = 2_000;
const sweepEveryMs = 24 * 3_600_000;
const markEveryMs = 60_000;
const retentionEveryMs = 60_000;
const eventsKeptMs = 7 * 24 * 3_600_000;
const broadcastsKeptMs = 30 * 24 * 3_600_000;
/** The rates of a broadcast whose publisher is gone. */
const noRates = {
  bitrateBitsPerSecond: undefined,
  framesPerSecond: undefined,
  audioDriftMilliseconds: undefined,
};

/**
 * Puts the server together and starts it.
 *
 * @throws AppError with one clear message when it cannot start: `data-dir-unusable`, `database-unusable`, `ffmpeg-unusable`,
 * `tls-unusable`, `listen-failed`
 */
export async function startApp(config: Config, environment: AppEnvironment): Promise<RunningApp> {
  const { log } = environment;
  const clock = environment.clock ?? systemClock;
  const sandboxRules: SandboxLimits = { ...usualSandboxRules, ...environment.sandboxRules };
  const dataDir = resolve(config.dataDir);
  const knownBuilds = await BuildVersionCache.read(join(dataDir, 'programs.json'));
  const [ffmpeg, ffprobe] = await Promise.all([
    findFfmpeg(config['ffmpeg.path'], environment.variables, knownBuilds),
    findFfprobe(config['ffprobe.path'], environment.variables, knownBuilds),
  ]);
  log.child('ffmpeg').info('ffmpeg-found', {
    path: ffmpeg.path,
    version: ffmpeg.version,
    source: ffmpeg.source,
    lacks: ffmpeg.lacks,
    ffprobe: ffprobe.path,
  });

  const connections = { http: config['http.maxConnections'], rtmp: config['rtmp.maxConnections'] };
  const descriptors = missingDescriptors(readDescriptorLimit(), connections);
  if (descriptors !== undefined) log.child('main').warn('descriptor-limit-low', { ...descriptors });
  const { changed, failed } = makeDataFolderPrivate(dataDir);
  if (changed.length > 0) log.child('store').info('data-folder-made-private', { paths: changed });
  for (const message of failed) log.child('store').warn('data-folder-not-private', { dataDir, message });
  const database = openDatabase({ dataDir });
  // Without it, the next start asks the programs again.
  await knownBuilds
    .save()
    .catch((error: unknown) => log.child('ffmpeg').warn('versions-not-saved', { error: messageOf(error) }));
  const metrics = new Metrics();
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  try {
    const outbox = new Outbox(database, log.child('events'));
    const journal = new BroadcastsStore<BroadcastState, EndReason>(database, outbox, clock);
    const crashed = journal.endUnfinished(clock.nowMs(), 'server-crashed');
    if (crashed > 0) log.child('live').warn('broadcasts-left-by-a-crash-ended', { count: crashed });

    const limits = await ProcessLimits.find(environment.variables, log.child('ffmpeg'));
    const processes = new ProcessOwner(limits, log);
    const images = new ImageQueue({
      maxRunning: config['images.maxRunning'],
      maxWaiting: config['images.maxWaiting'],
    });
    const certificate =
      config['tls.cert'] === undefined || config['tls.key'] === undefined
        ? undefined
        : new CertificateFiles({
            certPath: config['tls.cert'],
            keyPath: config['tls.key'],
            log: log.child('tls'),
          });

    const vod = createVodServices({
      config,
      database,
      outbox,
      dataDir,
      ffmpeg,
      ffprobe,
      limits,
      images,
      metrics,
      sandboxVideoMs: sandboxRules.maxVideoMs,
      thumbnails: () => api.thumbnails,
      extras: () => api,
      mayStore: projectId => api.quotas.hasStorage(projectId),
      addRecorded: (projectId, video) => void api.videos.createRecorded(projectId, video),
      makeRoom: missing => api.videos.makeRoom(missing),
      freeBytes: environment.freeBytes,
      clock,
      log,
    });

    const company = createLiveServices({
      ...{ config, files: vod.files, sandboxRules, clock, log, ffmpeg, limits, images },
      isPlayable: (liveStreamId, broadcastId) => live.find(liveStreamId, broadcastId) !== undefined,
      recordings: vod.recordings,
    });
    const hosts = new HostResolver();
    const resolveHost = (hostname: string) => hosts.resolve(hostname);
    const webhookSender = createWebhookSender(config, resolveHost);
    const outward = createRestreaming({
      ...{ config, outbox, metrics, ffmpeg, limits, sandboxRules, clock, log },
      resolve: resolveHost,
    });
    const ladder = createTranscoding({
      config,
      outbox,
      ffmpeg,
      limits,
      steps: environment.liveSteps,
      canDropQualities: environment.canDropQualities ?? true,
      clock,
      log,
    });
    const slate = await openSlate({
      mode: config['live.slate'],
      imagePath: config['live.slatePicture'],
      ffmpegPath: ffmpeg.path,
      memoryBytes: config['live.encoderMemory'],
      owner: processes,
    });
    const live: BroadcastRegistry = new BroadcastRegistry({
      slate,
      showsStills: config['live.slate'] !== 'off',
      settings: {
        partTargetMs: config['live.partTarget'],
        segmentTargetMs: config['live.segmentTarget'],
        windowMs: config['live.window'],
        windowBytes: config['live.windowBytes'],
        reconnectGraceMs: config['live.reconnectGrace'],
        stopGraceMs: config['live.stopGrace'],
        keyframeTimeoutMs: config['live.keyframeTimeout'],
        maxPixels: config['live.maxPixels'],
        maxEncoders: config['live.maxEncoders'] ?? encodersPerCore * availableParallelism(),
        maxEncodersPerProject: config['live.maxEncodersPerProject'],
        endedKeptMs,
        completedLingerMs,
      },
      codecCapabilities: ffmpeg,
      findStream: key => api.liveStreams.findByStreamKey(key),
      startPackager: (plan, events, ids) =>
        new FfmpegPackager({
          path: ffmpeg.path,
          owner: processes,
          plan,
          events,
          ids,
        }),
      maxSandboxBroadcastMs: sandboxRules.maxBroadcastMs,
      createSubscribers: broadcast => {
        alarms.wake();
        suspensions.wake();
        return [
          ...company.createSubscribers(broadcast),
          ...outward.restreams.follow(broadcast),
          healthHistories.follow(broadcast),
        ];
      },
      selectLadder: ladder.form,
      qualityDropped: ladder.qualityDropped,
      rewind: company.rewind,
      journal,
      observer: {
        partListed: lagMs => {
          metrics.partLagSeconds.observe(lagMs / 1000);
          vod.partListed(lagMs);
        },
        renditionPartListed: lagMs => {
          metrics.renditionLagSeconds.observe(lagMs / 1000);
          vod.partListed(lagMs - usualRungLagMs);
        },
        qualityDropped: (quality, reason) => metrics.qualitiesDropped.inc({ quality, reason }),
        segmentListed: lagMs => metrics.segmentLagSeconds.observe(lagMs / 1000),
        packagerFailed: () => metrics.ffmpegFailures.inc({ purpose: 'packager' }),
        framesLost: (how, count) => metrics.framesLost.inc({ how }, count),
        broadcastEnded: reason => metrics.broadcastsEnded.inc({ reason }),
      },
      clock,
      log,
    });

    const alarms = new AlarmMonitor({
      broadcasts: () => live.alarmInputs(),
      isAnyOpen: () => live.openCount > 0,
      changed: (broadcast, { kind, isRaised, message }) => {
        if (isRaised) metrics.alarmsRaised.inc({ alarm: kind });
        const type = isRaised ? 'live-stream.alarm.raised' : 'live-stream.alarm.cleared';
        outbox.appendLiveStreamEvent(broadcast, type, { alarm: kind, message }, clock.nowMs());
      },
      clock,
      log: log.child('live'),
    });

    // An operator suspends accounts from another process.
    const suspensions = new OnDemandInterval(suspensionEveryMs, () => {
      endSuspended(journal, live, log.child('live'));
      return live.openCount > 0;
    });

    const healthHistories = new HealthSampler({
      measure: liveStreamId => {
        const stats = live.statsOf(liveStreamId);
        if (stats === undefined) return undefined;
        const viewers = delivery.viewers(liveStreamId);
        return { ...(stats.state === 'live' ? stats : noRates), viewers };
      },
      clock,
    });

    const feed = new EventFeed({
      outbox,
      broadcasts: wants =>
        live.stats(wants).map(stats => ({ ...stats, viewers: delivery.viewers(stats.liveStreamId) })),
      restreams: wants => outward.restreams.stats(wants),
      projectOfVideo: videoId => vod.encodings.request(videoId)?.projectId,
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

    const owners = () => [processes, vod.processes, company.processes, ladder.processes, outward.processes];
    const addressOf = addressReader(config['http.trustedProxies'] ?? []);
    const isSecure = secureReader(config['http.trustedProxies'] ?? []);
    const isTrustedProxy = trustedProxyCheck(config['http.trustedProxies'] ?? []);
    const bundles = new BrowserBundles({
      fallbackFolder: join(dataDir, 'bundles'),
      isDevelopment: environment.variables.NODE_ENV === 'development',
      log: log.child('browser-bundles'),
    });
    const api = createApi({
      bundles,
      database,
      dataDir,
      publicUrl: () => publicUrl(),
      version: readVersion(),
      ingest: () => {
        const { hostname } = new URL(publicUrl());
        const { rtmpPort, rtmpsPort } = ingest;
        return {
          rtmp: `rtmp://${hostname}${rtmpPort === 1935 ? '' : `:${rtmpPort}`}/s`,
          rtmps: rtmpsPort === undefined ? undefined : `rtmps://${hostname}:${rtmpsPort}/s`,
        };
      },
      rateLimits: {
        uploads: config['rateLimit.uploads'],
        writes: config['rateLimit.writes'],
        reads: config['rateLimit.reads'],
        sandbox: {
          uploads: config['rateLimit.sandboxUploads'] ?? config['rateLimit.uploads'],
          writes: config['rateLimit.sandboxWrites'] ?? config['rateLimit.writes'],
          reads: config['rateLimit.sandboxReads'] ?? config['rateLimit.reads'],
        },
      },
      maxWrongKeysPerMinute: config['rateLimit.wrongKeys'],
      quotas: {
        maxStorageBytes: config['storage.maxPerProject'],
        maxUploads: config['uploads.maxPerProject'],
      },
      live,
      ingestHealth: {
        health: liveStreamId => {
          const stats = live.statsOf(liveStreamId);
          return stats && { ...stats, alarms: alarms.raised(stats.broadcastId) };
        },
        history: (liveStreamId, seconds) => healthHistories.newest(liveStreamId, seconds),
      },
      restreams: liveStreamId => outward.restreams.ofStream(liveStreamId),
      videos: {
        restoreDays: config['videos.restore'],
        mp4Wished: (videoId, isWished) => vod.vodJobs.updateMp4Support(videoId, isWished),
        isAudioOnly: videoId => vod.encodings.isAudioOnly(videoId),
        removed: videoId => vod.vodJobs.removeVideo(videoId),
      },
      images: {
        maxPixels: config['images.maxPixels'],
        requestFrame: videoId => vod.vodJobs.requestFrame(videoId),
        canDecode: path => vod.vodJobs.canDecode(path),
        mark: async path => ((await vod.vodJobs.watermarkImage(path)) ? 'image/jpeg' : undefined),
      },
      uploads: {
        jobs: vod.jobs,
        sourceReady: videoId => vod.vodJobs.sourceReady(videoId),
        sourceFailed: (videoId, reason) => vod.encodings.sourceFailed(videoId, reason),
        hasEncodingFailed: videoId => vod.encodings.hasFailed(videoId),
        sourceReplaced: videoId => vod.encodings.reset(videoId),
        minFreeBytes: config['uploads.minFree'],
        idleTimeoutMs: config['uploads.idleTimeout'],
        sourceTimeoutMs: config['uploads.sourceTimeout'],
        minImportRate: { bytesPerSecond: config['imports.minBytesPerSecond'], windowMs: importRateWindowMs },
        allowPrivateTargets: config.allowPrivateTargets,
        resolve: resolveHost,
      },
      feed,
      webhooks: outbox.webhooks,
      webhookSender,
      encodings: {
        encodingOf: videoId => vod.encodings.state(videoId),
        isPlayable: videoId => vod.playback.isPlayable(videoId),
      },
      health: {
        checks: [
          {
            name: 'start',
            fault: () => (phase === 'running' ? undefined : `the server is ${phase}`),
            isRoutine: true,
          },
          { name: 'database', fault: () => database.findFault() },
          { name: 'ingest', fault: () => (ingest.isListening ? undefined : 'no RTMP port is listened on') },
        ],
        metrics: {
          contentType: metrics.contentType,
          text: () => {
            for (const [state, count] of Object.entries(live.countByState())) {
              metrics.broadcasts.set({ state }, count);
            }
            metrics.recordings.set(vod.recordings.openCount);
            metrics.ffmpegProcesses.set({ purpose: 'packager' }, processes.running);
            metrics.ffmpegProcesses.set({ purpose: 'video' }, vod.processes.running);
            metrics.ffmpegProcesses.set({ purpose: 'live-frame' }, company.processes.running);
            metrics.ffmpegProcesses.set({ purpose: 'ladder' }, ladder.processes.running);
            metrics.ffmpegProcesses.set({ purpose: 'restream' }, outward.processes.running);
            for (const [state, count] of Object.entries(outward.restreams.countByState())) {
              metrics.restreams.set({ state }, count);
            }
            for (const [lane, counts] of Object.entries(vod.jobs.counts())) {
              for (const [state, count] of Object.entries(counts)) metrics.jobs.set({ lane, state }, count);
            }
            metrics.viewers.set(delivery.totalViewers());
            metrics.webhooksWaiting.set(outbox.webhooks.pendingTotal());
            const stats = live.stats(() => true);
            metrics.broadcastBitsPerSecond.set(stats.reduce((sum, one) => sum + one.bitrateBitsPerSecond, 0));
            metrics.broadcastFramesPerSecond.set(stats.reduce((sum, one) => sum + one.framesPerSecond, 0));
            return metrics.text();
          },
        },
        ...given('token', config['metrics.token']),
      },
      serverParts: {
        programs: [programOf('ffmpeg', ffmpeg), programOf('ffprobe', ffprobe)],
        minFreeBytes: config['uploads.minFree'],
        childPids: () => owners().flatMap(({ pids }) => pids),
        jobs: () => {
          const lanes = Object.values(vod.jobs.counts());
          const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
          const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
          return { waiting, running, isPaused: vod.isPaused() };
        },
        live: () => {
          return { broadcasts: live.openCount, viewers: delivery.totalViewers() };
        },
      },
      analytics: {
        reportsPerMinute: config['analytics.reports'],
        geoDatabase: config['analytics.geoDatabase'],
        addressOf,
      },
      peers: { addressOf, isSecure },
      log,
      observer: metrics,
      clock,
      bodyTimeoutMs: config['http.requestTimeout'],
    });
    for (const kind of api.uploads.jobKinds) vod.jobs.register(kind);

    const sessions = new PrivateSessionsStore({ database, tokens: api.privateTokens, clock });
    const delivery = new Delivery({
      bundles,
      live,
      frames: company.thumbnails,
      streams: {
        find: liveStreamId => api.liveStreams.findForViewers(liveStreamId),
        thumbnailPath: liveStreamId => api.liveStreams.thumbnailPath(liveStreamId),
        theme: liveStreamId => {
          const playerId = api.liveStreams.findForViewers(liveStreamId)?.playerId;
          return playerId === undefined ? undefined : api.players.shown(playerId);
        },
      },
      vod: vod.source,
      logo: (playerId, extension) => {
        const file = api.players.logoFile(playerId, extension);
        return file && fileBody(file, extension === 'png' ? 'image/png' : 'image/jpeg');
      },
      sessions,
      publicUrl: () => publicUrl(),
      docsBase: api.docsBase,
      log: log.child('delivery'),
      observer: {
        bytesOut: (count, payer) => {
          metrics.bytesOut.inc(count);
          if (payer !== undefined) api.traffic.record(payer.projectId, payer.deliveryKind, count);
        },
        viewerDropped: reason => metrics.connectionsDropped.inc({ side: 'viewer', reason }),
        request: (kind, status) => metrics.mediaRequests.inc({ kind, status: String(status) }),
      },
      clock,
      addressOf,
      viewerStallMs: config['delivery.viewerStall'],
    });

    const http = new HttpListener({
      host: config.host,
      port: config['http.port'],
      ...(certificate === undefined || config['https.port'] === undefined
        ? {}
        : { https: { port: config['https.port'], certificate } }),
      beforeKoa: [
        (request, response) => delivery.handle(request, response),
        (request, response) => api.dashboard.handle(request, response),
        (request, response) => api.docs.handle(request, response),
      ],
      upgrades: api.upgrades,
      koa: api.koa,
      docsBase: api.docsBase,
      maxConnections: config['http.maxConnections'],
      perAddress: { maxPerAddress: config['http.maxConnectionsPerAddress'], isExempt: isTrustedProxy },
      connectionRefused: () =>
        metrics.connectionsDropped.inc({ side: 'viewer', reason: 'too-many-connections-of-address' }),
      allowedMethods: path => delivery.allowedMethods(path) ?? api.allowedMethods(path),
      ...(config['tls.hsts'] === 0
        ? {}
        : { hsts: { maxAgeSeconds: Math.floor(config['tls.hsts'] / 1_000), isSecure } }),
      log: log.child('http'),
    });

    const ingest: RtmpServer = new RtmpServer({
      host: config.host,
      rtmpPort: config['rtmp.port'],
      ...(certificate === undefined || config['rtmps.port'] === undefined
        ? {}
        : {
            rtmps: {
              port: config['rtmps.port'],
              secureContext: () => certificate.secureContext(),
              onChange: listener => void certificate.onChange(listener),
            },
          }),
      maxConnections: config['rtmp.maxConnections'],
      perAddress: { maxPerAddress: config['rtmp.maxConnectionsPerAddress'], isExempt: isTrustedProxy },
      handshakeTimeoutMs: config['rtmp.handshakeTimeout'],
      idleTimeoutMs: config['rtmp.idleTimeout'],
      maxMessageBytes: config['rtmp.maxMessage'],
      maxMessageRate: config['rtmp.maxMessageRate'],
      gate: gateOf(live),
      log,
      observer: {
        connectionOpened: () => metrics.ingestConnections.inc(),
        connectionClosed: reason => {
          metrics.ingestConnections.dec();
          metrics.connectionsDropped.inc({ side: 'publisher', reason });
        },
        bytesIn: count => metrics.bytesIn.inc(count),
        publisherOpened: () => metrics.publishers.inc(),
        publisherClosed: () => metrics.publishers.dec(),
        refused: reason => metrics.publishersRefused.inc({ reason }),
      },
    });

    const publicUrl = () => {
      if (config.publicUrl !== undefined) return config.publicUrl;
      return http.httpsPort === undefined
        ? `http://localhost:${http.httpPort}`
        : `https://localhost:${http.httpsPort}`;
    };

    const metricsComponent = componentOf('metrics', { stop: () => metrics.stop() });
    const processComponent = componentOf('processes', { stop: () => processes.stop() });
    const history = new BroadcastHistoryStore(database);
    const housekeeping = new PeriodicTasks({
      name: 'housekeeping',
      tasks: [
        { name: 'old-events', run: () => outbox.removeBefore(clock.nowMs() - eventsKeptMs) },
        api.analytics.cleanup,
        { name: 'private-sessions', run: () => sessions.removeExpired() },
        {
          name: 'old-broadcasts',
          run: () => history.removeBefore(clock.nowMs() - broadcastsKeptMs),
        },
        { name: 'old-traffic', run: () => api.traffic.removeOld() },
        { name: 'removed-players', run: () => api.players.detachRemoved() },
        { name: 'removed-videos', run: signal => api.videos.removeOrphanedFiles(signal) },
        { name: 'discarded-videos', run: signal => api.videos.purgeExpired(clock.nowMs(), signal) },
        { name: 'empty-videos', run: signal => api.videos.removeEmpty(clock.nowMs(), signal) },
        { name: 'unfinished-uploads', run: () => api.uploads.service.failExpired(clock.nowMs()) },
      ],
      everyMs: housekeepingEveryMs,
      log: log.child('housekeeping'),
    });
    // Made now: what stands on the disk now, and has no row, gets none any more.
    const sweep = new Sweep({
      store: new SweepStore(database),
      files: vod.files,
      jobs: vod.jobs,
      isBusy: videoId => vod.isRecording(videoId),
      removeLeftoverBroadcasts: () => company.removeOrphanedRewind(),
      removeAbortedBackups: () => removeStaleSnapshots(dataDir),
      observer: {
        removed: (what, bytes) => {
          metrics.sweepRemoved.inc({ what });
          metrics.sweepFreedBytes.inc(bytes);
        },
        repaired: what => metrics.sweepRepaired.inc({ what }),
      },
      clock,
      log: log.child('sweep'),
    });
    const sweeps = new PeriodicTasks({
      name: 'sweeps',
      tasks: [{ name: 'sweep', run: signal => sweep.run(signal) }],
      everyMs: sweepEveryMs,
      log: log.child('sweep'),
    });
    const databaseMark = new PeriodicTasks({
      name: 'database-mark',
      tasks: [{ name: 'mark', run: () => sweep.recordUse() }],
      everyMs: markEveryMs,
      log: log.child('sweep'),
    });
    const retention = new PeriodicTasks({
      name: 'sandbox-retention',
      tasks: [
        {
          name: 'expired-sandbox-videos',
          run: signal => api.videos.removeOfSandbox(clock.nowMs() - sandboxRules.retentionMs, signal),
        },
      ],
      everyMs: retentionEveryMs,
      log: log.child('housekeeping'),
    });
    let firstSecrets: BootstrapSecrets | undefined;
    const firstAccount = componentOf('first-account', {
      start: async () => {
        firstSecrets = await bootstrapAccount(database, {
          isUpgraded: config['bootstrap.upgraded'],
          adminEmail: config['admin.email'],
          clock,
          ...given('sandboxKey', config['bootstrap.sandboxKey']),
          ...given('productionKey', config['bootstrap.productionKey']),
          ...given('adminPassword', config['admin.password']),
          ...given('secretsFile', config['bootstrap.secretsFile']),
        });
      },
    });
    const lifecycle = new Lifecycle(
      [
        database,
        metricsComponent,
        ...(certificate === undefined ? [] : [certificate]),
        databaseMark,
        api.tokenSweeper,
        api.analytics.tracker,
        api.traffic,
        api.serverWatch,
        processComponent,
        ...vod.components,
        vod.jobs,
        ...createWebhookComponents({
          ...{ database, outbox, metrics, clock, log },
          version: readVersion(),
          sender: webhookSender,
        }),
        housekeeping,
        retention,
        http,
        feed,
        delivery,
        ...company.components,
        ...ladder.components,
        ...outward.components,
        healthHistories,
        live,
        alarms,
        componentOf('suspensions', { stop: () => suspensions.stop() }),
        ingest,
        bundles,
        api.storageMeter,
        sweeps,
        // Last: its secrets can be shown once only, so nothing may fail after they are made.
        firstAccount,
      ],
      log.child('lifecycle'),
    );
    await lifecycle.start();
    phase = 'running';
    return {
      publicUrl: publicUrl(),
      httpPort: http.httpPort,
      httpsPort: http.httpsPort,
      rtmpPort: ingest.rtmpPort,
      rtmpsPort: ingest.rtmpsPort,
      dataDir,
      ffmpeg,
      firstSecrets,
      ffmpegProcesses: () => owners().reduce((sum, owner) => sum + owner.running, 0),
      drain: (deadlineMs, signal) => {
        phase = 'stopping';
        return lifecycle.drain(deadlineMs, signal);
      },
      stop: () => {
        phase = 'stopping';
        return lifecycle.stop();
      },
    };
  } catch (error) {
    await database.stop();
    metrics.stop();
    throw error;
  }
}

/** Ends the broadcasts of accounts that have been suspended. */
function endSuspended(
  journal: Pick<BroadcastsStore<BroadcastState, EndReason>, 'streamsOfSuspended'>,
  live: BroadcastRegistry,
  log: Logger,
): void {
  try {
    const count = journal.streamsOfSuspended().filter(liveStreamId => live.suspend(liveStreamId)).length;
    if (count > 0) log.info('suspended-broadcasts-ended', { count });
  } catch (error) {
    log.error('suspended-broadcasts-not-ended', { error });
  }
}

/** What the RTMP server asks, answered by the live room. */
function gateOf(live: BroadcastRegistry): PublishGate {
  return {
    request: async (request, connection) => {
      const answer = live.admit(request.streamKey, {
        connectionId: connection.connectionId,
        protocol: request.protocol,
        remoteAddress: connection.remoteAddress,
        encoder: request.encoder,
        refuse: description => connection.end('NetStream.Publish.Rejected', description),
        close: description => connection.end('NetStream.Unpublish.Success', description),
        pause: () => connection.pause(),
        resume: () => connection.resume(),
      });
      return answer.accepted ? { accepted: true, sink: answer.handler } : answer;
    },
  };
}

/** A program as the operator is shown it. */
function programOf<Name extends string>(
  name: Name,
  { path, version, lacks = [] }: { path: string; version: string; lacks?: readonly string[] },
) {
  return { name, path, version, ...(lacks.length === 0 ? {} : { lacks: [...lacks] }) };
}

/** A property only where there is a value, for options that may be absent but not undefined. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

function readVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
