import { spawnSync } from 'node:child_process';
import { chown, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idsOf, runOnPostgres } from './postgres.ts';
import { PrivateServer, startedServer } from './private-server.ts';

const program = '/usr/sbin/pgbouncer';

export const pgbouncerMissing =
  spawnSync(program, ['--version']).status === 0 ? undefined : 'pgbouncer is not installed';

export interface Pgbouncer {
  readonly url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A private connection pooler in front of a PostgreSQL server of tests, with Debian's defaults beside the mode. */
export async function startPgbouncer(
  serverUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  poolSize = 20,
): Promise<Pgbouncer> {
  const target = new URL(serverUrl);
  const identity = process.getuid?.() === 0 ? idsOf('postgres') : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'pgb-'));
  if (identity !== undefined) await chown(folder, identity.uid, identity.gid);
  const settings = join(folder, 'pgbouncer.ini');
  const database = target.pathname.slice(1);
  await writeFile(
    settings,
    `[databases]
${database} = host=${target.searchParams.get('host')} user=${target.username}
[pgbouncer]
unix_socket_dir = ${folder}
listen_port = 6432
auth_type = any
pool_mode = ${mode}
default_pool_size = ${poolSize}
`,
  );
  const url = `postgres://${target.username}@localhost:6432/${database}?host=${encodeURIComponent(folder)}`;
  const isReady = () =>
    runOnPostgres(url, 'SELECT 1').then(
      () => true,
      () => false,
    );
  const server = new PrivateServer({ folder, killSignal: 'SIGKILL', isReady });
  return startedServer<Pgbouncer>({
    url,
    async start() {
      if (!(await server.start(program, [settings], { ...identity, cwd: folder })))
        throw new Error(`pgbouncer did not start: ${server.output}`);
    },
    stop: () => server.stop(),
  });
}
