import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { isInstalled, startListener, startNginx } from './nginx.ts';

/** A cache in front of a server, with the configuration of the documentation. */
export interface Edge {
  readonly baseUrl: string;
  readonly port: number;
  /** The parent of its processes. */
  readonly pid: number;
  stop(): Promise<void>;
}

export interface EdgeProgram {
  readonly name: 'nginx' | 'varnish';
  /** Why it cannot run here; undefined when it can. */
  readonly missing: string | undefined;
  /** @param folder private to this edge */
  start(folder: string, originPort: number): Promise<Edge>;
}

export const nginxEdge: EdgeProgram = {
  name: 'nginx',
  missing: isInstalled('nginx', '-v') ? undefined : 'nginx is not installed',
  start: async (folder, originPort) => {
    const cache = join(folder, 'cache');
    await mkdir(cache, { recursive: true });
    const config = await documented('nginx.conf', [
      ['/var/cache/nginx/millrace', cache],
      ['127.0.0.1:8080', `127.0.0.1:${originPort}`],
    ]);
    const { httpPort, pid, stop } = await startNginx({
      folder,
      site: port => replaced(config, 'listen 80;', `listen 127.0.0.1:${port};`),
    });
    return { baseUrl: `http://127.0.0.1:${httpPort}`, port: httpPort, pid, stop };
  },
};

export const varnishEdge: EdgeProgram = {
  name: 'varnish',
  missing: isInstalled('varnishd', '-V') ? undefined : 'varnish is not installed',
  start: async (folder, originPort) => {
    const config = join(folder, 'edge.vcl');
    await mkdir(folder, { recursive: true });
    await writeFile(config, await documented('varnish.vcl', [['"8080"', `"${originPort}"`]]));
    const port = await freePort();
    const words = ['-F', '-j', 'none', '-f', config, '-a', `127.0.0.1:${port}`, '-s', 'malloc,256m'];
    const { pid, stop } = await startListener('varnishd', [...words, '-n', join(folder, 'work')], port);
    return { baseUrl: `http://127.0.0.1:${port}`, port, pid, stop };
  },
};

async function documented(name: string, changes: readonly (readonly [string, string])[]): Promise<string> {
  const path = fileURLToPath(new URL(`../../docs/edges/${name}`, import.meta.url));
  return changes.reduce((text, [from, to]) => replaced(text, from, to), await readFile(path, 'utf8'));
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
  return text.replace(from, to);
}
