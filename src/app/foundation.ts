import { join, resolve } from 'node:path';
import about from '../../package.json' with { type: 'json' };
import type { ClusterMembership } from '../cluster/membership.ts';
import type { LeaderLease } from '../cluster/node.ts';
import type { RunningSettings } from '../config/running-settings.ts';
import type { Config } from '../config/settings.ts';
import { Outbox } from '../events/outbox.store.ts';
import { BuildVersionCache } from '../ffmpeg/build/build-version-cache.ts';
import { type FfmpegBuild, type FfprobeBuild, findFfmpeg, findFfprobe } from '../ffmpeg/build/find-ffmpeg.ts';
import { EncoderSelector } from '../ffmpeg/hardware/encoder-selector.ts';
import { ImageQueue } from '../ffmpeg/image-queue.ts';
import { type FoundIsolation, findIsolation } from '../ffmpeg/process/find-isolation.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import { ProcessLimits } from '../ffmpeg/process/process-limits.ts';
import { addressReader, secureReader, trustedProxyCheck } from '../http/listener/client-address.ts';
import { BrowserBundles } from '../http/pages/browser-bundles.ts';
import type { LadderConfig } from '../live/transcode/ladder-config.ts';
import { Metrics } from '../metrics/metrics.ts';
import { ServerSettings } from '../operations/settings/server-settings.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { missingDescriptors, readDescriptorLimit } from '../shared/files/descriptor-limit.ts';
import type { Logger } from '../shared/logger.ts';
import { basePathOf } from '../shared/network/base-path.ts';
import { HostResolver } from '../shared/network/host-resolver.ts';
import { withoutPassword } from '../shared/network/postgres-url.ts';
import type { ResolveHost } from '../shared/network/target-address.ts';
import type { RecentLog } from '../shared/recent-log.ts';
import { sandboxLimits as defaultSandboxLimits, type SandboxLimits } from '../shared/sandbox-limits.ts';
import type { RetrySchedule } from '../shared/scheduling/retry-schedule.ts';
import { DataFolderParts } from '../storage/data-folder-parts.ts';
import { makeDataFolderPrivate } from '../storage/data-folder-permissions.ts';
import { FreeSpaceWatch } from '../storage/free-space-watch.ts';
import { MediaFiles } from '../storage/media-files.ts';
import { assertOwnFolder } from '../store/data-folder-lock.ts';
import type { Database } from '../store/database.ts';
import { openDatabase } from '../store/open-database.ts';
import { openCertificate, type ServerCertificate } from './certificates.ts';
import { expectFreePorts } from './free-ports.ts';
import { createNodes } from './nodes.ts';
import { ServerUrls } from './server-urls.ts';
import { type OpenedStorage, openStorage } from './storage.ts';

export interface AppEnvironment {
  readonly log: Logger;
  /** Lines of {@link log}. */
  readonly recentLog?: RecentLog;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Folder of the built browser code. */
  readonly browserFolder: string;
  readonly clock?: Clock;
  /** Replaced by tests, like the members below. */
  readonly liveSteps?: LadderConfig['renditionsFor'];
  readonly canDropQualities?: boolean;
  readonly sandboxRules?: Partial<SandboxLimits>;
  readonly freeBytes?: () => Promise<number>;
  readonly idleMemoryEveryMs?: number;
  readonly certificateRetries?: RetrySchedule | undefined;
}

export interface Foundation {
  readonly config: Config;
  readonly settings: ServerSettings;
  readonly version: string;
  readonly dataDir: string;
  readonly ffmpeg: FfmpegBuild;
  readonly ffprobe: FfprobeBuild;
  readonly database: Database;
  readonly nodes: ClusterMembership;
  /** Returns the same leader lease for the same name. */
  readonly leaderLease: (name: string) => LeaderLease;
  readonly storage: OpenedStorage;
  readonly files: MediaFiles;
  readonly freeSpace: FreeSpaceWatch;
  readonly outbox: Outbox;
  readonly metrics: Metrics;
  readonly limits: ProcessLimits;
  /** Why ffmpeg runs in no sandbox; undefined in one. */
  readonly missingIsolation: string | undefined;
  readonly processes: ProcessOwner;
  readonly encoders: EncoderSelector;
  readonly images: ImageQueue;
  readonly certificate: ServerCertificate | undefined;
  readonly bundles: BrowserBundles;
  readonly urls: ServerUrls;
  readonly peers: {
    readonly addressOf: ReturnType<typeof addressReader>;
    readonly isSecure: ReturnType<typeof secureReader>;
    /** Peers that connect for many clients. */
    readonly isTrustedProxy: ReturnType<typeof trustedProxyCheck>;
    /** Peers that send PROXY protocol headers; undefined when none do. */
    readonly isProxy: ReturnType<typeof trustedProxyCheck> | undefined;
  };
  readonly resolveHost: ResolveHost;
  readonly sandboxLimits: SandboxLimits;
  readonly environment: AppEnvironment;
  readonly clock: Clock;
  readonly log: Logger;
}

/** @throws AppError `data-dir-unusable`, `database-unusable`, `storage-unusable`, `ffmpeg-unusable`, `isolation-unusable`, `tls-unusable` */
export async function openFoundation(
  settings: RunningSettings,
  environment: AppEnvironment,
): Promise<Foundation> {
  const { config } = settings;
  const { log, clock = systemClock } = environment;
  const dataDir = resolve(config.dataDir);
  assertOwnFolder(dataDir);
  const versions = await BuildVersionCache.read(join(dataDir, 'programs.json'));
  const { ffmpeg, ffprobe } = await findPrograms(config, environment, versions, join(dataDir, '.programs'));
  warnOfDescriptorLimit(config, log);
  await expectFreePorts(config);
  makePrivate(dataDir, log);
  const database = await open(config, dataDir, log.child('store'));
  // Saves the versions; otherwise, the next start asks the programs for them again.
  await versions
    .save()
    .catch((error: unknown) => log.child('ffmpeg').warn('versions-not-saved', { error: messageOf(error) }));
  const metrics = new Metrics();
  const serverSettings = new ServerSettings({ settings, database, log: log.child('settings') });
  let storage: OpenedStorage | undefined;
  try {
    await serverSettings.apply();
    storage = await openStorage(config, dataDir, { metrics, log: log.child('storage') });
    return await createFoundation({
      config,
      settings: serverSettings,
      environment,
      clock,
      log,
      dataDir,
      ffmpeg,
      ffprobe,
      database,
      metrics,
      storage,
    });
  } catch (error) {
    await closeFoundation({ database, metrics, storage });
    throw error;
  }
}

type OpenedParts = Pick<
  Foundation,
  | 'config'
  | 'settings'
  | 'environment'
  | 'clock'
  | 'log'
  | 'dataDir'
  | 'ffmpeg'
  | 'ffprobe'
  | 'database'
  | 'metrics'
  | 'storage'
>;

async function createFoundation(opened: OpenedParts): Promise<Foundation> {
  const { config, environment, clock, log, dataDir, database, metrics, storage } = opened;
  const files = new MediaFiles(dataDir, storage.media, new DataFolderParts(dataDir, log.child('storage')));
  if (storage.s3 !== undefined) files.reclaimFrom(storage.s3.cache);
  const { limits, missing: missingIsolation } = await isolate(config, environment, { ...opened, files });
  const urls = createServerUrls(config);
  const { version } = about;
  const { publicUrl } = urls;
  const processes = new ProcessOwner(limits, log);
  const nodes = await createNodes({ config, dataDir, database, version, publicUrl, clock, log });
  if (database.dialect === 'postgres') metrics.setNode(nodes.id);
  const hosts = new HostResolver();
  const resolveHost: ResolveHost = hostname => hosts.resolve(hostname);
  const { certificateRetries: retries } = environment;
  return {
    ...opened,
    limits,
    missingIsolation,
    version,
    urls,
    nodes,
    leaderLease: name => nodes.leaderLease(name),
    files,
    freeSpace: new FreeSpaceWatch({
      freeBytes: environment.freeBytes ?? (() => files.freeBytes()),
      makeRoom: missing => files.freeSpace(missing),
      clock,
      log: log.child('storage'),
    }),
    outbox: new Outbox(database, log.child('events')),
    processes,
    encoders: createEncoders(opened, processes),
    images: new ImageQueue({
      maxRunning: config['images.maxRunning'],
      maxWaiting: config['images.maxWaiting'],
    }),
    certificate: openCertificate(config, { database, nodes, resolveHost, retries, clock, log }),
    bundles: new BrowserBundles({
      basePath: basePathOf(config.publicUrl),
      folder: environment.browserFolder,
    }),
    peers: peerReaders(config),
    resolveHost,
    sandboxLimits: { ...defaultSandboxLimits, ...environment.sandboxRules },
  };
}

function createServerUrls(config: Config): ServerUrls {
  return new ServerUrls({
    publicUrl: config.publicUrl,
    hostname: config['tls.domains']?.[0],
    ingestPorts: {
      rtmp: config['rtmp.port'],
      srt: config['srt.enabled'] ? config['srt.port'] : undefined,
    },
    webRtcPort: config['webrtc.enabled'] ? config['webrtc.port'] : undefined,
  });
}

function createEncoders({ config, ffmpeg, clock, log }: OpenedParts, owner: ProcessOwner): EncoderSelector {
  return new EncoderSelector({
    setting: config['encode.hardware'],
    devicePath: config['encode.hardwareDevice'],
    ffmpegPath: ffmpeg.path,
    owner,
    memoryBytes: config['live.encoderMemory'],
    clock,
    log,
  });
}

function peerReaders(config: Config): Foundation['peers'] {
  const proxies = config['http.trustedProxies'] ?? [];
  const balancers = config['proxyProtocol.from'] ?? [];
  return {
    addressOf: addressReader(proxies),
    isSecure: secureReader(proxies),
    isTrustedProxy: trustedProxyCheck([...proxies, ...balancers]),
    isProxy: balancers.length === 0 ? undefined : trustedProxyCheck(balancers),
  };
}

async function open(config: Config, dataDir: string, log: Logger): Promise<Database> {
  const url = config['database.url'];
  // Servers that share a database share the media, too.
  const isShared = config['storage.url'] !== undefined;
  const maxConnections = config['database.maxConnections'];
  const database = await openDatabase({ dataDir, url, isShared, maxConnections, log });
  log.info('database-opened', {
    database: url === undefined ? join(dataDir, 'millrace.db') : withoutPassword(url.reveal()),
  });
  return database;
}

export async function closeFoundation({
  database,
  metrics,
  storage,
}: Pick<Foundation, 'database' | 'metrics'> & {
  readonly storage: OpenedStorage | undefined;
}): Promise<void> {
  await storage?.s3?.stop();
  await database.stop();
  metrics.stop();
}

async function findPrograms(
  config: Config,
  { variables, log }: AppEnvironment,
  versions: BuildVersionCache,
  copies: string,
): Promise<{ ffmpeg: FfmpegBuild; ffprobe: FfprobeBuild }> {
  const [ffmpeg, ffprobe] = await Promise.all([
    findFfmpeg(config['ffmpeg.path'], variables, versions, copies),
    findFfprobe(config['ffprobe.path'], variables, versions, copies),
  ]);
  const { path, version, source, lacks, isOutdated, embeddedReason } = ffmpeg;
  const ffmpegLog = log.child('ffmpeg');
  ffmpegLog.info('ffmpeg-found', { path, version, source, lacks, ffprobe: ffprobe.path });
  if (isOutdated) ffmpegLog.warn('ffmpeg-outdated', { path, version });
  if (embeddedReason !== undefined)
    ffmpegLog.warn('ffmpeg-not-maintained', { path, version, reason: embeddedReason });
  return { ffmpeg, ffprobe };
}

async function isolate(
  config: Config,
  { variables, log: parent }: AppEnvironment,
  { files, dataDir, ffmpeg, ffprobe }: Pick<Foundation, 'files' | 'dataDir' | 'ffmpeg' | 'ffprobe'>,
): Promise<FoundIsolation> {
  const log = parent.child('ffmpeg');
  const found = await findIsolation({
    setting: config['ffmpeg.isolation'],
    limits: await ProcessLimits.find(variables, log),
    programs: [
      { name: 'ffmpeg', ...ffmpeg },
      { name: 'ffprobe', ...ffprobe },
    ],
    dataDir,
    inWorkFolder: work => files.inWorkFolder(work),
    variables,
  });
  log.info('ffmpeg-isolation', { isActive: found.missing === undefined, missing: found.missing });
  return found;
}

function warnOfDescriptorLimit(config: Config, log: Logger): void {
  const connections = { http: config['http.maxConnections'], rtmp: config['rtmp.maxConnections'] };
  const missing = missingDescriptors(readDescriptorLimit(), connections);
  if (missing !== undefined) log.child('main').warn('descriptor-limit-low', { ...missing });
}

function makePrivate(dataDir: string, parent: Logger): void {
  const log = parent.child('store');
  const { changed, failed } = makeDataFolderPrivate(dataDir);
  if (changed.length > 0) log.info('data-folder-made-private', { paths: changed });
  for (const message of failed) log.warn('data-folder-not-private', { dataDir, message });
}
