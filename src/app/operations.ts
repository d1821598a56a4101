import { X509Certificate } from 'node:crypto';
import { removeStaleSnapshots } from '../cli/backup/file-snapshot.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { RtmpServer } from '../ingest/rtmp/rtmp-server.ts';
import type { HealthOptions } from '../operations/health/health.routes.ts';
import { LocalLeftovers } from '../operations/housekeeping/local-leftovers.ts';
import { LocalSweep } from '../operations/housekeeping/local-sweep.ts';
import { SweepStore } from '../operations/housekeeping/sweep.store.ts';
import { Sweep } from '../operations/housekeeping/sweep.ts';
import { IdleMemory } from '../operations/memory/idle-memory.ts';
import { NewestVersion } from '../operations/server-state/newest-version.ts';
import { NodeLoadsStore } from '../operations/server-state/node-loads.store.ts';
import { NodeLoads } from '../operations/server-state/node-loads.ts';
import type { ServerComponents } from '../operations/server-state/server-monitor.ts';
import { describeFullDisk } from '../operations/server-state/server-warnings.ts';
import { AuditStore } from '../resources/identity/audit/audit.store.ts';
import { BroadcastsStore } from '../resources/live/broadcasts/broadcasts.store.ts';
import type { PrivateSessionsStore } from '../resources/playback/private-sessions/private-sessions.store.ts';
import { RetentionStore } from '../resources/videos/retention/retention.store.ts';
import { VideoExpiry } from '../resources/videos/retention/video-expiry.ts';
import { messageOf } from '../shared/errors.ts';
import { fullBelowBytes } from '../shared/files/disk-error.ts';
import type { Component } from '../shared/lifecycle.ts';
import { type PeriodicTask, PeriodicTasks } from '../shared/scheduling/periodic-tasks.ts';
import type { Connection } from '../store/connection.ts';
import { trimMalloc } from '../store/malloc-trim.ts';
import { SqliteDatabase } from '../store/sqlite-database.ts';
import type { Api } from './api.ts';
import type { Foundation } from './foundation.ts';
import type { MediaSide } from './media-side.ts';
import { createSweepRepairs } from './sweep-repairs.ts';

const housekeepingIntervalMs = 3_600_000;
const sweepIntervalMs = 24 * 3_600_000;
const useRecordIntervalMs = 60_000;
const dataFolderIntervalMs = 10_000;
const retentionIntervalMs = 60_000;
const idleMemoryIntervalMs = 60_000;
const dayMs = 24 * 3_600_000;
const eventTtlMs = 7 * dayMs;
const broadcastTtlMs = 30 * dayMs;

export function processOwners(
  { processes }: Foundation,
  { vod, broadcasts }: Pick<MediaSide, 'vod' | 'broadcasts'>,
): Readonly<Record<string, ProcessOwner>> {
  return {
    packager: processes,
    video: vod.processes,
    'live-frame': broadcasts.services.processes,
    ladder: broadcasts.transcoding.processes,
    pull: broadcasts.pulls.processes,
  };
}

/** `phase` is read at each request. */
export function healthOptions(
  foundation: Foundation,
  media: MediaSide,
  rtmp: RtmpServer,
  phase: () => string,
): HealthOptions {
  const { config, database, nodes, metrics, storage, files } = foundation;
  const token = config['metrics.token'];
  return {
    checks: [
      {
        name: 'start',
        fault: () => (phase() === 'running' ? undefined : `the server is ${phase()}`),
        isRoutine: true,
      },
      { name: 'database', fault: () => database.findFault() },
      { name: 'data-folder', fault: () => files.parts.findFault() },
      { name: 'disk', fault: () => fullDisk(foundation, fullBelowBytes) },
      ...(storage.s3 === undefined ? [] : [{ name: 'storage', fault: () => storage.media.findFault() }]),
      { name: 'node', fault: () => (nodes.self.isDraining ? drainState(media) : nodes.fault) },
      ...(config['node.roles'].includes('ingest')
        ? [{ name: 'ingest', fault: () => (rtmp.isListening ? undefined : 'no RTMP port is open') }]
        : []),
    ],
    warnings: async () => {
      const disk = await fullDisk(foundation, config['uploads.minFree']);
      return disk === undefined ? [] : [`Uploads are refused: ${disk}`];
    },
    node: () => ({ id: nodes.id, roles: nodes.self.roles }),
    metrics: {
      contentType: metrics.contentType,
      text: async () => {
        await setGauges(foundation, media);
        return metrics.text();
      },
    },
    token,
  };
}

async function fullDisk({ files, config }: Foundation, minFreeBytes: number): Promise<string | undefined> {
  try {
    if (!(await files.isFull(minFreeBytes))) return undefined;
    return describeFullDisk({ freeBytes: await files.freeBytes(), minFreeBytes: config['uploads.minFree'] });
  } catch (error) {
    return messageOf(error);
  }
}

/** The command `drain` waits for the second one. */
function drainState({ broadcasts, vod }: MediaSide): string {
  const left = [
    [broadcasts.registry.openCount, 'broadcasts'],
    [vod.jobs.runningCount, 'jobs'],
  ] as const;
  const names = left.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`);
  return names.length > 0 ? `the server is draining: ${names.join(', ')}` : 'the server is drained';
}

async function setGauges(foundation: Foundation, media: MediaSide): Promise<void> {
  const { metrics, storage, log } = foundation;
  const { broadcasts, recordings, viewers } = media;
  const { registry, restreamer } = broadcasts;
  for (const [state, count] of Object.entries(registry.countByState())) {
    metrics.broadcasts.set({ state }, count);
  }
  for (const [state, count] of Object.entries(restreamer.countByState())) {
    metrics.restreams.set({ state }, count);
  }
  for (const [purpose, owner] of Object.entries(processOwners(foundation, media))) {
    metrics.ffmpegProcesses.set({ purpose }, owner.running);
  }
  metrics.storageCacheBytes.set(storage.s3?.cache.bytes ?? 0);
  metrics.recordings.set(recordings.openCount);
  metrics.recordingUploadLag.set(recordings.uploadLagSeconds);
  metrics.viewers.set(viewers.total());
  const stats = registry.stats(() => true);
  metrics.broadcastBitsPerSecond.set(stats.reduce((sum, one) => sum + one.bitrateBitsPerSecond, 0));
  metrics.broadcastFramesPerSecond.set(stats.reduce((sum, one) => sum + one.framesPerSecond, 0));
  metrics.diskReservedBytes.set(foundation.config['uploads.minFree']);
  metrics.certificateEndSeconds.set(certificateEndSeconds(foundation));
  metrics.databaseUp.set((await foundation.database.findFault()) === undefined ? 1 : 0);
  try {
    metrics.diskFreeBytes.set(await foundation.files.freeBytes());
    await setStoredGauges(foundation, media);
  } catch (error) {
    // The others are needed most while the database does not respond.
    log.warn('metrics-not-read', { error: messageOf(error) });
  }
}

function certificateEndSeconds({ certificate }: Foundation): number {
  const pair = certificate?.source.secureContext();
  return pair === undefined ? 0 : Date.parse(new X509Certificate(pair.cert).validTo) / 1_000;
}

async function setStoredGauges({ metrics, outbox }: Foundation, { vod }: MediaSide): Promise<void> {
  for (const [lane, counts] of Object.entries(await vod.jobs.counts())) {
    for (const [state, count] of Object.entries(counts)) metrics.jobs.set({ lane, state }, count);
  }
  metrics.webhooksWaiting.set(await outbox.webhooks.pendingTotal());
}

/** Load of the servers that share a database. */
export function createNodeLoads(
  { database, nodes, clock, log }: Foundation,
  { broadcasts, viewers }: MediaSide,
): NodeLoads | undefined {
  if (database.dialect === 'sqlite') return undefined;
  return new NodeLoads({
    nodes,
    store: new NodeLoadsStore(database, clock),
    live: () => ({ broadcasts: broadcasts.registry.openCount, viewers: viewers.total() }),
    log: log.child('nodes'),
  });
}

/** Undefined unless the operator turned it on. */
export function createNewestVersion({ config, version, log }: Foundation): NewestVersion | undefined {
  const url = config['updates.url'];
  return url === undefined ? undefined : new NewestVersion({ url, version, log: log.child('updates') });
}

export function updateCheck({ log }: Foundation, newestVersion: NewestVersion): Component {
  const { name } = newestVersion;
  return new PeriodicTasks({ name, everyMs: dayMs, tasks: [newestVersion], log: log.child('updates') });
}

export function serverComponents(
  foundation: Foundation,
  media: MediaSide,
  {
    nodeLoads,
    newestVersion,
  }: { nodeLoads: NodeLoads | undefined; newestVersion: NewestVersion | undefined },
): ServerComponents {
  const { config, ffmpeg, ffprobe, encoders, missingIsolation: missing } = foundation;
  const { vod, broadcasts, recordings, viewers } = media;
  const { path, version, lacks } = ffmpeg;
  return {
    programs: [
      { name: 'ffmpeg', path, version, ...(lacks.length === 0 ? {} : { lacks: [...lacks] }) },
      { name: 'ffprobe', path: ffprobe.path, version: ffprobe.version },
    ],
    isolation: { isActive: missing === undefined, missing },
    get minFreeBytes() {
      return config['uploads.minFree'];
    },
    get codecs() {
      return ['h264' as const, ...vod.context.settings.codecs];
    },
    encoder: () => encoders.state,
    recordingLagSeconds: () => recordings.uploadLagSeconds,
    childPids: () => Object.values(processOwners(foundation, media)).flatMap(({ pids }) => pids),
    jobs: async () => {
      const lanes = Object.values(await vod.jobs.counts());
      const waiting = lanes.reduce((sum, lane) => sum + lane.waiting, 0);
      const running = lanes.reduce((sum, lane) => sum + lane.running, 0);
      return { waiting, running, isPaused: vod.isPaused() };
    },
    live: () => ({ broadcasts: broadcasts.registry.openCount, viewers: viewers.total() }),
    certificate: () => foundation.certificate?.ordered?.view(),
    nodes: async () => nodeLoads?.list(),
    newerVersion: () => newestVersion?.newer,
  };
}

export function createIdleMemory(
  { environment, database, storage, log }: Foundation,
  { delivery, vod, broadcasts }: Pick<MediaSide, 'vod' | 'broadcasts'> & { readonly delivery: Delivery },
): Component {
  const idleMemory = new IdleMemory({
    caches: [
      delivery,
      vod.playback,
      ...(storage.s3 === undefined ? [] : [storage.s3]),
      ...(database instanceof SqliteDatabase ? [database] : []),
    ],
    isBroadcasting: () => broadcasts.registry.openCount > 0,
    trim: trimMalloc,
  });
  return new PeriodicTasks({
    name: idleMemory.name,
    everyMs: environment.idleMemoryEveryMs ?? idleMemoryIntervalMs,
    tasks: [idleMemory],
    log: log.child('memory'),
  });
}

export type Housekeeping = Record<
  'useRecord' | 'dataFolder' | 'housekeeping' | 'retention' | 'localSweeps' | 'sweeps',
  Component
>;

export async function createHousekeeping(
  foundation: Foundation,
  media: MediaSide,
  parts: { readonly api: Api; readonly sessions: PrivateSessionsStore },
): Promise<Housekeeping> {
  const { database, outbox, leaderLease, clock, log, sandboxLimits } = foundation;
  const { videos, quotas } = media.videoServices;
  const { sweep, localSweep } = await createSweeps(foundation, media);
  const expiry = new VideoExpiry({
    database,
    outbox,
    clock,
    store: new RetentionStore(database),
    isReceiving: (videoId, transaction) => quotas.isReceiving(videoId, transaction),
    videos: {
      discard: (projectId, videoId, transaction) => videos.discard(projectId, videoId, transaction),
      removeFiles: (projectId, videoId) => videos.removal.remove(projectId, videoId),
    },
  });
  const periodic = (name: string, component: string, everyMs: number, tasks: readonly PeriodicTask[]) =>
    new PeriodicTasks({ name, everyMs, tasks, log: log.child(component) });
  const whileIntact =
    (task: Sweep | LocalSweep): PeriodicTask['run'] =>
    signal => {
      foundation.files.parts.assertIntact();
      return task.run(signal);
    };
  const shared: typeof periodic = (name, component, everyMs, tasks) =>
    new PeriodicTasks({ name, everyMs, tasks, leaderLease: leaderLease(name), log: log.child(component) });
  return {
    useRecord: periodic('database-mark', 'sweep', useRecordIntervalMs, [
      { name: 'mark', run: () => sweep.recordUse() },
    ]),
    dataFolder: periodic('data-folder', 'storage', dataFolderIntervalMs, [
      { name: 'find-parts', run: () => foundation.files.parts.watch() },
    ]),
    housekeeping: shared(
      'housekeeping',
      'housekeeping',
      housekeepingIntervalMs,
      housekeepingTasks(foundation, media, parts),
    ),
    retention: shared('retention', 'housekeeping', retentionIntervalMs, [
      { name: 'expired-videos', run: signal => expiry.run(signal) },
      {
        name: 'expired-sandbox-videos',
        run: signal => videos.removal.removeOfSandbox(clock.nowMs() - sandboxLimits.retentionMs, signal),
      },
    ]),
    localSweeps: periodic(
      'local-sweeps',
      'sweep',
      sweepIntervalMs,
      localSweep === undefined ? [] : [{ name: 'local-sweep', run: whileIntact(localSweep) }],
    ),
    sweeps: shared('sweeps', 'sweep', sweepIntervalMs, [{ name: 'sweep', run: whileIntact(sweep) }]),
  };
}

function housekeepingTasks(
  { config, database, outbox, clock, storage }: Foundation,
  { videoServices }: MediaSide,
  { api, sessions }: { api: Api; sessions: PrivateSessionsStore },
): PeriodicTask[] {
  const { videos, players, uploads } = videoServices;
  const broadcasts = new BroadcastsStore(database);
  const audit = new AuditStore(database);
  return [
    { name: 'old-events', run: () => outbox.removeBefore(clock.nowMs() - eventTtlMs) },
    api.analytics.cleanup,
    { name: 'private-sessions', run: () => sessions.removeExpired() },
    { name: 'old-broadcasts', run: () => broadcasts.removeBefore(clock.nowMs() - broadcastTtlMs) },
    {
      name: 'old-audit-entries',
      run: signal => audit.removeBefore(clock.nowMs() - config['audit.keepDays'] * dayMs, signal),
    },
    { name: 'old-traffic', run: () => api.traffic.removeOld() },
    { name: 'removed-players', run: () => players.detachRemoved() },
    { name: 'removed-videos', run: signal => videos.removal.removeOrphanedFiles(signal) },
    { name: 'discarded-videos', run: signal => videos.removal.purgeDiscarded(clock.nowMs(), signal) },
    { name: 'empty-videos', run: signal => videos.removal.removeEmpty(clock.nowMs(), signal) },
    { name: 'unfinished-uploads', run: () => uploads.service.failExpired(clock.nowMs()) },
    {
      name: 'unfinished-storage-uploads',
      run: signal => storage.s3?.abortOldUploads(clock.nowMs(), signal) ?? 0,
    },
  ];
}

/** Created before anything starts: files on disk without a row now never get one. */
async function createSweeps(
  { database, files, dataDir, metrics, clock, log: parentLog }: Foundation,
  { vod, broadcasts, recordingsStore }: MediaSide,
): Promise<{ readonly sweep: Sweep; readonly localSweep: LocalSweep | undefined }> {
  const log = parentLog.child('sweep');
  const leftovers = new LocalLeftovers({
    removeLeftoverBroadcasts: () => broadcasts.services.removeOrphanedMedia(),
    removeAbortedBackups: () => removeStaleSnapshots(dataDir),
    log,
  });
  const common = {
    store: new SweepStore(database),
    files,
    isBusy: (videoId: string, connection?: Connection) => recordingsStore.exists(videoId, connection),
    observer: {
      removed: (what: string, bytes: number) => {
        metrics.sweepRemoved.inc({ what });
        metrics.sweepFreedBytes.inc(bytes);
      },
      repaired: (what: string) => metrics.sweepRepaired.inc({ what }),
    },
    clock,
    log,
  };
  const isShared = files.storage.kind !== 'data-folder';
  const sweep = await Sweep.create({
    ...common,
    repairs: createSweepRepairs(database),
    jobs: vod.jobs,
    leftovers: isShared ? undefined : leftovers,
  });
  return {
    sweep,
    localSweep: isShared ? new LocalSweep({ ...common, leftovers, usePeriods: sweep.usePeriods }) : undefined,
  };
}
