import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/settings.ts';
import { AppError, systemCodeOf } from '../shared/errors.ts';
import { programDir } from '../shared/installation.ts';
import { withoutPassword } from '../shared/network/postgres-url.ts';
import { describeS3Location, parseS3Url } from '../shared/network/s3-url.ts';
import type { Secret } from '../shared/secret.ts';
import { type RunningServer, RunningServers } from '../store/running-servers.ts';
import { type ConfigSource, configFileOf, loadServerConfig } from './load-server-config.ts';

interface CommandData {
  readonly dataDir: string;
  /** URL of PostgreSQL. Without it, the database is in the data folder. */
  readonly databaseUrl: Secret | undefined;
  /** URL of the bucket. Without it, media is in the data folder. */
  readonly storageUrl: Secret | undefined;
  /** Line for the operator. */
  readonly line: string;
}

/**
 * Finds the data folder in a flag, the environment or a settings file, else that of the running server of
 * this program, else the default. @throws AppError `config-invalid`; `data-dir-unusable` when several servers
 * run, or the folder belongs to another user; `database-unusable` when it has no database, or its server uses
 * PostgreSQL and the settings of the command do not
 */
export function findDataDir(source: ConfigSource): CommandData {
  const { config, dataDir, running, server } = locateServer(source);
  const { 'database.url': databaseUrl, 'storage.url': storageUrl } = config;
  checkIsReachable(dataDir);
  if (databaseUrl === undefined) checkHasDatabase(dataDir, server, running);
  const state = server === undefined ? '' : ` (server at ${server.publicUrl}, process ${server.pid})`;
  const database =
    databaseUrl === undefined ? '' : `\nDatabase: PostgreSQL, ${withoutPassword(databaseUrl.reveal())}`;
  const storage =
    storageUrl === undefined ? '' : `\nMedia: ${describeS3Location(parseS3Url(storageUrl.reveal()))}`;
  return { dataDir, databaseUrl, storageUrl, line: `Data folder: ${dataDir}${state}${database}${storage}` };
}

interface LocatedServer {
  readonly config: Config;
  readonly dataDir: string;
  readonly running: readonly RunningServer[];
  /** Runs on this data folder. */
  readonly server: RunningServer | undefined;
}

/** Finds the data folder, and the server that runs on it. @throws AppError `config-invalid`; `data-dir-unusable` when several servers run */
export function locateServer({ flags, configFile, env }: ConfigSource): LocatedServer {
  const config = loadServerConfig({ flags, configFile, env });
  const isNamed =
    flags.dataDir !== undefined ||
    (env.MILLRACE_DATA_DIR ?? '') !== '' ||
    configFileOf({ configFile, env }) !== undefined;
  const running = new RunningServers().list();
  const ours = isNamed ? [] : running.filter(server => server.programDir === programDir);
  if (ours.length > 1) {
    throw new AppError(
      'data-dir-unusable',
      `Several servers are running. Add the data folder of one of them:\n\n${choicesOf(ours)}`,
    );
  }
  const dataDir = ours[0]?.dataDir ?? resolve(config.dataDir);
  return { config, dataDir, running, server: running.find(one => one.dataDir === dataDir) };
}

function checkIsReachable(dataDir: string): void {
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    if (systemCodeOf(error) === 'EACCES') {
      const message = `The data folder ${dataDir} belongs to another user. Run this command as that user`;
      throw new AppError('data-dir-unusable', `${message}${ownerHint(dataDir)}.`, { cause: error });
    }
  }
}

function checkHasDatabase(
  dataDir: string,
  server: RunningServer | undefined,
  running: readonly RunningServer[],
): void {
  if (server?.usesPostgres === true) {
    throw new AppError(
      'database-unusable',
      `The server at ${server.publicUrl} uses PostgreSQL. Give this command the same MILLRACE_DATABASE_URL (or settings file) as the server.`,
    );
  }
  if (existsSync(join(dataDir, 'millrace.db'))) return;
  const advice =
    running.length > 0
      ? `Add the data folder of a running server:\n\n${choicesOf(running)}`
      : 'Start the server once to create it. If your data is in another folder, add --dataDir=PATH or set MILLRACE_DATA_DIR. If it is in PostgreSQL, set MILLRACE_DATABASE_URL. If the server runs as another user, run this command as that user.';
  throw new AppError('database-unusable', `There is no database in ${dataDir}. ${advice}`);
}

function ownerHint(dataDir: string): string {
  try {
    return ` (sudo -u '#${statSync(dataDir).uid}' ...)`;
  } catch {
    // A folder above it belongs to that user, too.
    return '';
  }
}

function choicesOf(servers: readonly RunningServer[]): string {
  return servers
    .map(({ dataDir, publicUrl, pid, startedAtMs }) => {
      const startedAt = new Date(startedAtMs).toISOString().slice(0, 16).replace('T', ' ');
      return `  --dataDir=${dataDir}   ${publicUrl}, process ${pid}, started ${startedAt} UTC`;
    })
    .join('\n');
}
