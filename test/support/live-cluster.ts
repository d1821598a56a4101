import { afterAll } from 'vitest';
import { type CreatedStream, type ServerProcess, startServerProcess } from '../../scripts/server-process.ts';
import { type Publisher, publishTestPicture } from './ffmpeg.ts';
import { type S3Server, s3Missing, startS3 } from './s3.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { databaseKinds, postgresUrlOf } from './test-database.ts';

/** The reason why a test cannot start several servers. */
export const clusterMissing: string | undefined = databaseKinds.includes('PostgreSQL')
  ? s3Missing
  : 'PostgreSQL is not installed';

const bucket = 'cluster';

/** Servers that are processes of their own and share PostgreSQL and S3, until the end of the file. */
export class LiveCluster {
  readonly #folders: string[] = [];
  readonly #servers: ServerProcess[] = [];
  #s3: S3Server | undefined;
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
    afterAll(async () => {
      await Promise.all(this.#servers.map(server => server.stop()));
      await this.#s3?.stop();
      await Promise.all(this.#folders.map(removeDir));
    });
  }

  /** Wait for the first one before you start others: it creates the account. */
  async start(own: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const dataDir = await makeTempDir();
    this.#folders.push(dataDir);
    if (this.#s3 === undefined) {
      this.#s3 = await startS3();
      await this.#s3.makeBucket(bucket);
    }
    const env = {
      MILLRACE_DATABASE_URL: await postgresUrlOf(this.#folders[0]!),
      MILLRACE_STORAGE_URL: this.#s3.url(bucket),
      MILLRACE_LIVE_SEGMENT_TARGET: '1s',
      MILLRACE_RECORDING_ENABLED: 'false',
      ...this.#env,
      ...own,
    };
    const server = await startServerProcess({ dataDir, env });
    this.#servers.push(server);
    return server;
  }
}

export function publishTo({ rtmpPort }: ServerProcess, { streamKey }: CreatedStream): Publisher {
  return publishTestPicture({
    url: `rtmp://127.0.0.1:${rtmpPort}/s/${streamKey}`,
    size: '160x90',
    gopSeconds: 1,
  });
}
