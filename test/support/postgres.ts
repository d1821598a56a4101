import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync, rmSync, statfsSync } from 'node:fs';
import { chown, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { PrivateServer, startedServer } from './private-server.ts';
import { isAlive } from './processes.ts';
import { sharedPostgres } from './shared-postgres.ts';

const programFolders = [18, 17, 16, 15, 14].map(version => `/usr/lib/postgresql/${version}/bin`);
const user = 'postgres';
/** Databases of tests are too short-lived to be cleaned or made safe from a crash of the machine. */
const settings = [
  ...['listen_addresses=', 'fsync=off', 'full_page_writes=off', 'autovacuum=off', 'max_connections=200'],
  ...['wal_level=minimal', 'max_wal_senders=0'],
];

/** A file system in memory, and what it must have free. */
const memoryFolder = '/dev/shm';
const minFreeBytes = 2 * 2 ** 30;
/** Folders of servers are named by it and by the process that started them. */
const namePrefix = 'millrace-pg-';

const programs = programFolders.find(
  folder => spawnSync(join(folder, 'postgres'), ['--version'], { stdio: 'ignore' }).status === 0,
);

/** The folder of PostgreSQL's programs, or undefined when a test cannot start a server. */
export function findPostgres(): string | undefined {
  return programs;
}

export interface PostgresServer {
  /** URL of the database in which others are created and dropped. */
  readonly url: string;
  readonly pid: number;
  /** The database to copy for a server: it has all tables where those of the run are copied. */
  readonly template: string;
  /** Ends the server at once, as a crash does; `start` recovers. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Copies the files while the server does not run, and returns the path of the copy, which `stop` removes. */
  copyData(): Promise<string>;
}

/** A private server that listens only to a socket in its own folder. PostgreSQL refuses to run as root. */
export async function startPostgres(moreSettings: readonly string[] = []): Promise<PostgresServer> {
  if (programs === undefined) throw new Error('PostgreSQL is not installed');
  const identity = process.getuid?.() === 0 ? idsOf(user) : undefined;
  const servers = folderOfServers();
  await removeOfKilledRuns(servers);
  const folder = await mkdtemp(join(servers, `${namePrefix}${process.pid}-`));
  if (identity !== undefined) await chown(folder, identity.uid, identity.gid);
  const data = join(folder, 'data');
  const run = (path: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(path, args, { ...identity, cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${path} failed: ${stderr}`);
  };
  const copied = process.env[sharedPostgres.data];
  if (copied === undefined)
    run(
      join(programs, 'initdb'),
      ...['-D', data, '-U', user, '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8'],
    );
  else run('cp', '-a', copied, data);
  const url = `postgres://${user}@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const isReady = () =>
    runOnPostgres(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  const program = new PrivateServer({ folder, killSignal: 'SIGQUIT', isReady });
  return startedServer<PostgresServer>({
    url,
    template: copied === undefined ? 'template1' : sharedPostgres.template,
    get pid() {
      return Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10);
    },
    async start() {
      const isStarted = await program.start(
        join(programs, 'postgres'),
        ['-D', data, '-k', folder, ...[...settings, ...moreSettings].flatMap(setting => ['-c', setting])],
        { ...identity, cwd: folder },
      );
      if (!isStarted) throw new Error(`PostgreSQL did not start: ${program.output}`);
    },
    kill: () => program.kill(),
    stop: () => program.stop(),
    async copyData() {
      await program.kill('SIGINT');
      const copy = join(folder, 'copy');
      run('cp', '-a', data, copy);
      await this.start();
      return copy;
    },
  });
}

/**
 * A database is 300 files: ext4 without a journal takes a third of a second of CPU to create as many, when others were removed
 * in the minutes before.
 */
function folderOfServers(): string {
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    if (bavail * bsize >= minFreeBytes) return memoryFolder;
  } catch {
    // Not on this system.
  }
  return tmpdir();
}

/** Ends the servers of test runs that were killed, and frees the memory that their files take. */
async function removeOfKilledRuns(servers: string): Promise<void> {
  for (const name of await readdir(servers)) {
    const starter = new RegExp(`^${namePrefix}(\\d+)-`).exec(name)?.[1];
    if (starter === undefined || isAlive(Number(starter))) continue;
    const folder = join(servers, name);
    try {
      const [pid, data] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
      if (data === join(folder, 'data')) process.kill(Number(pid), 'SIGQUIT');
    } catch {
      // The server has ended, or another run was here first.
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Creates a database beside that of `serverUrl` and returns its URL. */
export async function createPostgresDatabase(
  serverUrl: string,
  name: string,
  template = 'template1',
): Promise<string> {
  // Takes a third of the time of the default. Version 14 knows no other strategy.
  const strategy = findPostgres()?.includes('/14/') ? '' : ' STRATEGY FILE_COPY';
  await runOnPostgres(serverUrl, `CREATE DATABASE "${name}" TEMPLATE "${template}"${strategy}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

export async function runOnPostgres(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

export function idsOf(name: string): { uid: number; gid: number } {
  const id = (option: string) => Number(spawnSync('id', [option, name], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
