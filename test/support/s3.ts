import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { PrivateServer, startedServer } from './private-server.ts';

/** Installed by `.ci/run` with the same version. */
const programName = process.env.MILLRACE_TEST_VERSITYGW ?? 'versitygw';
const places = [programName, join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin', 'versitygw')];
const accessKey = 'millrace';
const secretKey = 'millrace/secret+key';

/** The path of versitygw, or undefined when a test cannot start an S3 server. */
export function findS3Server(): string | undefined {
  return places.find(
    path => (path === programName || existsSync(path)) && spawnSync(path, ['--version']).status === 0,
  );
}

export const s3Missing =
  findS3Server() === undefined
    ? 'versitygw is not installed: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0'
    : undefined;

export interface S3Server {
  readonly endpoint: string;
  /** Holds a folder per bucket, and a file per object. */
  readonly folder: string;
  /** URL as for `MILLRACE_STORAGE_URL`. */
  url(bucket: string, options?: S3UrlOptions): string;
  makeBucket(name: string): Promise<void>;
  /** Ends the server at once; `start` continues at the same address. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface S3UrlOptions {
  readonly prefix?: string;
  /** Endpoint of a proxy in front. */
  readonly endpoint?: string;
  readonly secret?: string;
}

/** A private S3 server on a folder. */
export async function startS3(): Promise<S3Server> {
  const path = findS3Server();
  if (path === undefined) throw new Error(s3Missing);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-test-s3-'));
  const buckets = join(folder, 'buckets');
  await mkdir(buckets);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const program = new PrivateServer({ folder, killSignal: 'SIGKILL', isReady: () => answers(endpoint) });
  const env = { ...process.env, ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey };
  const began = (options: readonly string[]) =>
    program.start(
      path,
      ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', 'posix', ...options, buckets],
      { env },
    );
  return startedServer<S3Server>({
    endpoint,
    folder: buckets,
    url: (bucket, options) => s3Url(bucket, { endpoint, ...options }),
    makeBucket: name => mkdir(join(buckets, name)).then(() => {}),
    async start() {
      if (await began([])) return;
      // Temporary folders do not always have extended attributes.
      const sidecar = join(folder, 'sidecar');
      await mkdir(sidecar, { recursive: true });
      if (!(await began(['--sidecar', sidecar])))
        throw new Error(`versitygw did not start: ${program.output}`);
    },
    kill: () => program.kill(),
    stop: () => program.stop(),
  });
}

export function s3Url(
  bucket: string,
  { prefix = '', endpoint, secret = secretKey }: S3UrlOptions & { readonly endpoint: string },
): string {
  const credentials = `${accessKey}:${encodeURIComponent(secret)}`;
  return `s3://${credentials}@${bucket}/${prefix}?endpoint=${encodeURIComponent(endpoint)}`;
}

async function answers(endpoint: string): Promise<boolean> {
  const response = await fetch(endpoint).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined;
}
