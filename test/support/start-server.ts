import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import { type RunningApp, startApp } from '../../src/app/start-app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { RunningSettings } from '../../src/config/running-settings.ts';
import type { Config, SettingKey } from '../../src/config/settings.ts';
import type { LadderConfig } from '../../src/live/transcode/ladder-config.ts';
import type { Logger } from '../../src/shared/logger.ts';
import type { SandboxLimits } from '../../src/shared/sandbox-limits.ts';
import type { RetrySchedule } from '../../src/shared/scheduling/retry-schedule.ts';
import { browserFolder } from './browser-bundles.ts';
import { addFirstAccount } from './first-account.ts';
import { addKnownPrograms } from './known-programs.ts';
import { leaveOutImages } from './leave-out-images.ts';
import { keptLog } from './server-logs.ts';
import { admin } from './sign-in.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { openTestDatabase, postgresUrlOf, usualKind } from './test-database.ts';

/** A whole server inside the test's process. `await using` stops it and removes its folder. */
export interface TestServer {
  readonly app: RunningApp;
  readonly baseUrl: string;
  readonly sandboxKey: string;
  /**
   * Key of the account, which is upgraded unless a test says otherwise: nothing is cut, and nothing is written
   * over pictures.
   */
  readonly productionKey: string;
  readonly dataDir: string;
  /** Returns the address for publishing with this key. */
  rtmpUrl(streamKey: string): string;
  createStream(name?: string): Promise<CreatedStream>;
  /** An API request with the production key. */
  api(method: string, path: string, body?: unknown): Promise<Response>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const sandboxKey = 'sandbox-key-of-this-test-0123456789';
const productionKey = 'production-key-of-this-test-0123456789';

/**
 * Starts a server on free ports of loopback.
 *
 * Broadcasts are not recorded unless `recording.enabled` says so, since what follows keeps the machine busy.
 *
 * @param flags settings as in the file, such as `{ 'live.reconnectGrace': '2s' }`
 * @param options `dataDir` keeps a folder over several servers; the caller removes it. `sandboxLimits`: times that are shorter than usual
 */
export async function startServer(
  flags: Partial<Record<SettingKey, string>> = {},
  options: {
    dataDir?: string;
    /** True lets the server migrate its database and create the first account itself; default false. */
    isFirstStart?: boolean;
    /** False makes no thumbnails and storyboards of videos. Default: true. */
    hasImages?: boolean;
    log?: Logger;
    sandboxRules?: Partial<SandboxLimits>;
    /** Sizes that broadcasts are encoded in. */
    liveSteps?: LadderConfig['renditionsFor'];
    /** True lets broadcasts lose qualities while the machine cannot keep up; default false. */
    canDropQualities?: boolean;
    freeBytes?: () => Promise<number>;
    /** Time between two releases of memory while the server has little to do; default: a minute. */
    idleMemoryEveryMs?: number;
    /** Pauses between orders of a certificate that fail; default: minutes. */
    certificateRetries?: RetrySchedule;
    /** Receives the settings before the server reads them. */
    onSettings?: (settings: RunningSettings) => void;
    /** Default: those of the test. */
    variables?: Readonly<Record<string, string | undefined>>;
  } = {},
): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await makeTempDir());
  const { MILLRACE_FFMPEG_PATH, MILLRACE_FFPROBE_PATH } = process.env;
  const config = loadConfig({
    env: { MILLRACE_FFMPEG_PATH, MILLRACE_FFPROBE_PATH },
    flags: {
      host: '127.0.0.1',
      'http.port': '0',
      'rtmp.port': '0',
      'webrtc.port': '0',
      'srt.port': '0',
      dataDir,
      'bootstrap.sandboxKey': sandboxKey,
      'bootstrap.productionKey': productionKey,
      'recording.enabled': 'false',
      // Removes the limits per address: all clients of a test have one.
      'http.maxConnectionsPerAddress': '0',
      'rtmp.maxConnectionsPerAddress': '0',
      'rateLimit.wrongKeys': '0',
      'ffmpeg.isolation': process.env.MILLRACE_FFMPEG_ISOLATION ?? 'auto',
      ...(usualKind === 'SQLite' ? {} : { 'database.url': await postgresUrlOf(dataDir) }),
      ...flags,
    },
  });
  const start = async () => {
    addKnownPrograms(dataDir);
    const isPrepared = options.isFirstStart !== true && flags['database.url'] === undefined;
    if (isPrepared) await prepareDatabase(dataDir, config);
    if (options.hasImages === false) leaveOutImages(dataDir);
    const settings = new RunningSettings({ config, given: new Map() });
    options.onSettings?.(settings);
    return startApp(settings, {
      log: options.log ?? keptLog,
      variables: options.variables ?? process.env,
      browserFolder,
      sandboxRules: options.sandboxRules ?? {},
      canDropQualities: options.canDropQualities ?? false,
      liveSteps: options.liveSteps,
      freeBytes: options.freeBytes,
      idleMemoryEveryMs: options.idleMemoryEveryMs,
      certificateRetries: options.certificateRetries,
    });
  };
  const app = await start().catch(async (error: unknown) => {
    if (options.dataDir === undefined) await removeDir(dataDir);
    throw error;
  });
  const baseUrl = `http://127.0.0.1:${app.httpPort}`;
  const stop = async () => {
    await app.stop();
    if (options.dataDir === undefined) await removeDir(dataDir);
  };
  return {
    app,
    baseUrl,
    sandboxKey,
    productionKey,
    dataDir,
    rtmpUrl: streamKey => `rtmp://127.0.0.1:${app.rtmpPort}/s/${streamKey}`,
    createStream: (name = 'A test stream') => createLiveStream(baseUrl, productionKey, name),
    api: (method, path, body) =>
      fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          authorization: `Basic ${Buffer.from(`${productionKey}:`).toString('base64')}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Spares the server the migrations and the work of a password that is hard to guess. */
async function prepareDatabase(dataDir: string, config: Config): Promise<void> {
  const database = await openTestDatabase(dataDir);
  await addFirstAccount(database, {
    isUpgraded: config['bootstrap.upgraded'],
    keys: { sandbox: sandboxKey, production: productionKey },
    user: { email: config['admin.email'], password: config['admin.password']?.reveal() ?? admin.password },
  });
  await database.stop();
}
