import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitTimeoutMs } from './deadlines.ts';
import { freePort } from './free-port.ts';

const rtmpModule = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

/** Why a bench or test beside nginx with its RTMP module cannot run here; undefined when it can. */
export function nginxMissing(): string | undefined {
  return isInstalled('nginx', '-v') && existsSync(rtmpModule)
    ? undefined
    : 'nginx with the rtmp module is not installed';
}

/** @param flag prints the version */
export function isInstalled(program: string, flag: string): boolean {
  return spawnSync(program, [flag], { stdio: 'ignore' }).error === undefined;
}

export interface NginxOptions {
  /** Private to this nginx, for its configuration, logs and temporary files. */
  readonly folder: string;
  /** Inside of `rtmp { server { listen ...; } }`. Without it, nothing listens to RTMP. */
  readonly rtmp?: string;
  /** Inside of `http { server { listen ...; } }`. */
  readonly http?: string;
  /** Inside of `http { }`, for a server of its own that listens to the port. Without it and `http`, nothing listens to HTTP. */
  readonly site?: (port: number) => string;
}

/** A private nginx with one worker, on free ports of the loopback address. */
export interface Nginx extends Listener {
  /** 0 without RTMP. */
  readonly rtmpPort: number;
  /** 0 without HTTP. */
  readonly httpPort: number;
}

/** Starts nginx and waits until it listens. @throws Error with its error log when it ends before that */
export async function startNginx({ folder, rtmp, http, site }: NginxOptions): Promise<Nginx> {
  const rtmpPort = rtmp === undefined ? 0 : await freePort();
  const httpPort = (http ?? site) === undefined ? 0 : await freePort();
  const temporary = join(folder, 'temporary');
  await mkdir(temporary, { recursive: true });
  const configPath = join(folder, 'nginx.conf');
  await writeFile(
    configPath,
    [
      ...(rtmp === undefined ? [] : [`load_module ${rtmpModule};`]),
      ...(process.getuid?.() === 0 ? ['user root;'] : []),
      'daemon off; worker_processes 1; worker_rlimit_nofile 8192;',
      `pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'error.log')} error;`,
      'events { worker_connections 4096; }',
      ...(rtmp === undefined
        ? []
        : [`rtmp { access_log off; server { listen 127.0.0.1:${rtmpPort}; ${rtmp} } }`]),
      'http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;',
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        kind => `${kind}_temp_path ${join(temporary, kind)};`,
      ),
      ...(http === undefined ? [] : [`server { listen 127.0.0.1:${httpPort}; ${http} }`]),
      ...(site === undefined ? [] : [site(httpPort)]),
      '}',
    ].join('\n'),
  );
  const port = rtmpPort || httpPort;
  const words = ['-c', configPath, '-e', join(folder, 'error.log')];
  return { ...(await startListener('nginx', words, port)), rtmpPort, httpPort };
}

/** A program that a test started. */
export interface Listener {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a program and waits until it accepts connections. @throws Error with what it printed when it ends before that */
export async function startListener(
  program: string,
  words: readonly string[],
  port: number,
): Promise<Listener> {
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
  });
  const deadlineAtMs = Date.now() + waitTimeoutMs;
  while (!(await canConnect(port))) {
    if (hasEnded(child) || Date.now() > deadlineAtMs) {
      child.kill('SIGKILL');
      throw new Error(`${program} did not start: ${said}`);
    }
    await sleep(20);
  }
  return {
    pid: child.pid!,
    stop: async () => {
      if (hasEnded(child)) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
