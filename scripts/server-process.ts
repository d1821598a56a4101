import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { addKnownPrograms } from '../test/support/known-programs.ts';
import { copySqliteTemplate } from '../test/support/sqlite-template.ts';
import { projectRoot } from './project-files.ts';

/** A Millrace that runs as a process of its own, as `npm start` runs it, on free ports. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly httpPort: number;
  readonly rtmpPort: number;
  readonly baseUrl: string;
  readonly sandboxKey: string;
  /** Key of an account without limits: nothing is cut, and no watermark is shown. */
  readonly productionKey: string;
  /** Lines that it printed so far. */
  readonly lines: readonly string[];
  /** Times of its first line, and of being ready, in milliseconds after it was started. */
  readonly startTimes: { readonly firstLineMs: number; readonly readyMs: number };
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** SIGTERM, and how it ended. */
  stop(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

interface ServerProcessOptions {
  readonly dataDir: string;
  /** Further variables, such as settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** The program of an installed package; by default that of the project. */
  readonly program?: string;
  readonly cwd?: string;
  readonly startTimeoutMs?: number;
  /** Ctrl-C in the terminal reaches only the caller, who then stops the server; else both hear it. */
  readonly isDetached?: boolean;
}

const sandboxKey = 'sandbox-key-of-this-run-0123456789';
const productionKey = 'production-key-of-this-run-0123456789';

/** Servers that were started last, whether they still run, with their logs for the message of a failure. */
export const newestServers: Pick<ServerProcess, 'child' | 'lines'>[] = [];
const maxNewestServers = 4;

/** Starts a server and waits until it is ready. @throws Error with what it printed, when it ends before that. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  addKnownPrograms(options.dataDir);
  if (options.env?.MILLRACE_DATABASE_URL === undefined) copySqliteTemplate(options.dataDir);
  const startedMs = performance.now();
  const child = spawn(options.program ?? join(projectRoot, 'bin/millrace'), ['start'], {
    cwd: options.cwd ?? projectRoot,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      MILLRACE_HOST: '127.0.0.1',
      MILLRACE_HTTP_PORT: '0',
      MILLRACE_RTMP_PORT: '0',
      MILLRACE_WEBRTC_PORT: '0',
      MILLRACE_SRT_PORT: '0',
      MILLRACE_DATA_DIR: options.dataDir,
      MILLRACE_BOOTSTRAP_SANDBOX_KEY: sandboxKey,
      MILLRACE_BOOTSTRAP_PRODUCTION_KEY: productionKey,
      // Removes the limits per address: all clients of a test or benchmark have one.
      MILLRACE_HTTP_MAX_CONNECTIONS_PER_ADDRESS: '0',
      MILLRACE_RTMP_MAX_CONNECTIONS_PER_ADDRESS: '0',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.isDetached ?? false,
  });
  const lines: string[] = [];
  newestServers.push({ child, lines });
  if (newestServers.length > maxNewestServers) newestServers.shift();
  let firstLineMs: number | undefined;
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(resolve =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  const {
    promise: ready,
    resolve: isReady,
    reject: isNotReady,
  } = Promise.withResolvers<Record<string, unknown>>();
  const read = (stream: NodeJS.ReadableStream) =>
    createInterface({ input: stream }).on('line', line => {
      firstLineMs ??= performance.now() - startedMs;
      lines.push(line);
      if (lines.length > 2000) lines.shift();
      if (line.includes('"event":"ready"')) isReady(JSON.parse(line) as Record<string, unknown>);
    });
  read(child.stdout!);
  read(child.stderr!);
  void exited.then(({ code }) =>
    isNotReady(new Error(`The server ended with ${code}:\n${lines.join('\n')}`)),
  );
  const timer = setTimeout(
    () => isNotReady(new Error(`The server was not ready in time:\n${lines.join('\n')}`)),
    options.startTimeoutMs ?? 120_000,
  );
  try {
    const { http, rtmp } = await ready;
    const readyMs = performance.now() - startedMs;
    return {
      child,
      httpPort: Number(http),
      rtmpPort: Number(rtmp),
      baseUrl: `http://127.0.0.1:${http}`,
      sandboxKey,
      productionKey,
      lines,
      startTimes: { firstLineMs: firstLineMs ?? readyMs, readyMs },
      exited,
      stop: () => {
        child.kill('SIGTERM');
        return exited;
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** A live stream as the API answers it, as far as scripts and tests need it. */
export interface CreatedStream {
  readonly liveStreamId: string;
  readonly streamKey: string;
  readonly assets: { readonly hls: string; readonly player: string };
}

/** Makes a live stream through the API. */
export function createLiveStream(
  baseUrl: string,
  apiKey: string,
  name: string,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<CreatedStream> {
  return create(baseUrl, apiKey, '/live-streams', { name, ...attributes });
}

/** A video as the API answers it, as far as scripts and tests need it. */
export interface CreatedVideo {
  readonly videoId: string;
  readonly assets: { readonly hls: string; readonly player: string; readonly mp4?: string };
}

/** Makes a video through the API, without anything in it. */
export function createVideo(
  baseUrl: string,
  apiKey: string,
  attributes: Readonly<Record<string, unknown>> & { readonly title: string },
): Promise<CreatedVideo> {
  return create(baseUrl, apiKey, '/videos', attributes);
}

/** Value of the header `Authorization` for an API key. */
export function basicAuthorization(apiKey: string): string {
  return `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;
}

async function create<Created>(
  baseUrl: string,
  apiKey: string,
  path: string,
  attributes: Readonly<Record<string, unknown>>,
): Promise<Created> {
  const answer = await fetch(`${baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: basicAuthorization(apiKey), 'content-type': 'application/json' },
    body: JSON.stringify(attributes),
  });
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Created;
}
