import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import type { RunningApp } from '../app/start-app.ts';
import type { Config } from '../config/settings.ts';
import { messageOf } from '../shared/errors.ts';
import { programDir } from '../shared/installation.ts';
import type { Logger } from '../shared/logger.ts';
import { readServerCommandLine } from './server-command-line.ts';

/** Folder of the browser code, which is built with the server. Without a build, the variable names it. */
const browserFolder =
  process.env.MILLRACE_BROWSER_FOLDER ?? fileURLToPath(new URL('../browser/', import.meta.url));

/** Starts the server. Resolves when it is ready, or with an exit code. */
export async function startServer(args: readonly string[]): Promise<void> {
  // Media passes through in buffers outside the heap, tens of megabytes per second, which V8 mistakes for heap growth: it would
  // collect the whole heap several times per second, for a quarter of the server's CPU time. The small new space that
  // `bin/millrace` sets belongs to this too.
  setFlagsFromString('--heap-growing-percent=300');
  try {
    await serve(args);
  } catch (error) {
    const { reportFailure } = await import('./report-failure.ts');
    reportFailure(error, { name: 'start', title: 'Millrace could not start' });
  }
}

async function serve(args: readonly string[]): Promise<void> {
  const commandLine = await readServerCommandLine(args);
  if (typeof commandLine === 'string') {
    process.stdout.write(commandLine);
    return;
  }

  // Printed before the server is loaded, which takes seconds on a machine that has just booted.
  process.stdout.write('Millrace is starting.\n');

  const { loadServerSettings } = await import('./load-server-config.ts');
  const { createLogger } = await import('../shared/logger.ts');
  const { RecentLog } = await import('../shared/recent-log.ts');
  const settings = loadServerSettings({ ...commandLine, env: process.env });
  const { config } = settings;
  const recentLog = new RecentLog();
  const log = await createLogger({
    level: () => config['log.level'],
    pretty: process.stdout.isTTY,
    recent: recentLog,
  });
  const main = log.child('main');

  // After an uncaught error the state in memory is unreliable, while a restart recovers everything from disk.
  const crash = (error: unknown) => {
    main.error('crashed', { error });
    process.exit(70);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  const { startApp } = await import('../app/start-app.ts');
  const { toStartError } = await import('../shared/files/disk-error.ts');
  const { describeStart } = await import('./start-message.ts');
  const startedAtMs = performance.now();
  // No clients yet, and the files are consistent at any time.
  const giveUp = () => process.exit(0);
  process.on('SIGTERM', giveUp);
  process.on('SIGINT', giveUp);
  const { rememberEmptyFolder } = await import('./empty-folder.ts');
  const { unseenSecretsFile } = await import('../resources/identity/accounts/secrets-file.ts');
  const unseenSecrets = unseenSecretsFile(config.dataDir);
  const emptyFolderAgain = rememberEmptyFolder(config.dataDir);
  const app = await startApp(settings, { log, recentLog, variables: process.env, browserFolder }).catch(
    async error => {
      const startError = await toStartError(error, config.dataDir);
      // The account is in PostgreSQL, and the next start shows its secrets.
      const isNeeded = config['database.url'] !== undefined && existsSync(unseenSecrets);
      if (!isNeeded) emptyFolderAgain(startError);
      throw startError;
    },
  );
  process.off('SIGTERM', giveUp);
  process.off('SIGINT', giveUp);
  stopAtSignals(app, config, main);
  // Sent by the command `drain`.
  process.on('SIGUSR2', () => {
    main.info('draining', {});
    app.empty().catch((error: unknown) => main.error('drain-failed', { error: messageOf(error) }));
  });
  await addToRunningServers(app, config['database.url'] !== undefined, main);
  process.stdout.write(describeStart(app, config));
  if (app.firstSecrets !== undefined) rmSync(unseenSecrets, { force: true });
  main.info('ready', {
    http: app.httpPort,
    ...(app.rtmpPort === 0 ? {} : { rtmp: app.rtmpPort }),
    https: app.httpsPort,
    rtmps: app.rtmpsPort,
    srt: app.srtPort,
    ms: Math.round(performance.now() - startedAtMs),
  });
}

/** Lets the operator's commands find the data folder while this process runs. */
async function addToRunningServers(
  { dataDir, publicUrl, httpPort }: RunningApp,
  usesPostgres: boolean,
  log: Logger,
): Promise<void> {
  const { RunningServers } = await import('../store/running-servers.ts');
  try {
    const remove = new RunningServers().add({
      dataDir,
      publicUrl,
      httpPort,
      programDir,
      usesPostgres,
      startedAtMs: Date.now(),
    });
    process.on('exit', remove);
  } catch (error) {
    // Commands then require the folder as an option.
    log.info('running-server-not-listed', { dataDir, message: messageOf(error) });
  }
}

/** Drains at SIGTERM or SIGINT until the deadline; a second signal stops at once. */
function stopAtSignals(app: RunningApp, config: Pick<Config, 'drainTimeout'>, log: Logger): void {
  const hurry = new AbortController();
  let signals = 0;
  const stop = async (signal: string) => {
    signals += 1;
    if (signals > 1) {
      hurry.abort();
      return;
    }
    const { drainTimeout: drainTimeoutMs } = config;
    log.info('stopping', { signal, withinMs: drainTimeoutMs });
    // A component that hangs must not keep the process; the files are consistent at any time.
    const overdue = setTimeout(() => {
      log.error('stop-overdue', {});
      process.exit(1);
    }, drainTimeoutMs + 10_000);
    overdue.unref();
    try {
      await app.drain(Date.now() + drainTimeoutMs, hurry.signal);
      await app.stop();
      log.info('stopped', {});
      process.exitCode = 0;
    } catch (error) {
      log.error('stop-failed', { message: messageOf(error) });
      process.exitCode = 1;
    }
    process.exit();
  };
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
}
