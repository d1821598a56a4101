import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { createPostgresDatabase, type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { type S3Server, startS3 } from '../../test/support/s3.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';

/** A server of a cluster, which keeps its address and its data folder when it is started again. */
export interface NodeProcess {
  /** `A`, `B` and so on. */
  readonly name: string;
  readonly baseUrl: string;
  readonly rtmpPort: number;
  readonly dataDir: string;
  /** Undefined while it is down. */
  readonly server: ServerProcess | undefined;
  /** SIGKILL. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Settings that all nodes share. */
interface ClusterUrls {
  readonly MILLRACE_DATABASE_URL: string;
  readonly MILLRACE_STORAGE_URL: string;
}

type NodeSettings = Readonly<Record<string, string>>;

export interface Cluster {
  readonly postgres: PostgresServer;
  readonly s3: S3Server;
  readonly nodes: readonly NodeProcess[];
  readonly urls: ClusterUrls;
  readonly productionKey: string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Folder for the data folders. */
  readonly folder: string;
  /** Settings of each node, in addition to those of the cluster. */
  readonly nodes: readonly (NodeSettings | ((urls: ClusterUrls) => Promise<NodeSettings>))[];
  readonly isDetached?: boolean;
  /** Settings of PostgreSQL in addition to those of tests. */
  readonly postgresSettings?: readonly string[];
  /** Returns the URL that nodes use. */
  readonly databaseUrl?: (url: string) => Promise<string>;
}

/** Starts PostgreSQL, an S3 server and the nodes, one after the other: the first one creates the account. */
export async function startCluster({
  folder,
  nodes: settings,
  isDetached = false,
  postgresSettings,
  databaseUrl = async url => url,
}: ClusterOptions): Promise<Cluster> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const postgres = await startPostgres(postgresSettings);
    ends.push(() => postgres.stop());
    const s3 = await startS3();
    ends.push(() => s3.stop());
    await s3.makeBucket('media');
    const database = await createPostgresDatabase(postgres.url, 'cluster', postgres.template);
    const urls = {
      MILLRACE_DATABASE_URL: await databaseUrl(database),
      MILLRACE_STORAGE_URL: s3.url('media'),
    };
    const nodes: NodeProcess[] = [];
    for (const [index, own] of settings.entries()) {
      const name = String.fromCharCode('A'.charCodeAt(0) + index);
      const env = { ...urls, ...(typeof own === 'function' ? await own(urls) : own) };
      const node = await createNode(name, join(folder, name), env, isDetached);
      ends.push(async () => node.server?.stop());
      await node.start();
      nodes.push(node);
    }
    return { postgres, s3, nodes, urls, productionKey: nodes[0]!.server!.productionKey, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createNode(
  name: string,
  dataDir: string,
  settings: NodeSettings,
  isDetached: boolean,
): Promise<NodeProcess> {
  const httpPort = settings.MILLRACE_HTTP_PORT ?? String(await freePort());
  const rtmpPort = await freePort();
  const baseUrl = `http://127.0.0.1:${httpPort}`;
  await mkdir(dataDir, { recursive: true });
  let server: ServerProcess | undefined;
  const env = {
    MILLRACE_HTTP_PORT: httpPort,
    MILLRACE_RTMP_PORT: String(rtmpPort),
    MILLRACE_WEBRTC_PORT: '0',
    MILLRACE_SRT_PORT: '0',
    MILLRACE_NODE_URL: baseUrl,
    ...settings,
  };
  return {
    name,
    baseUrl,
    rtmpPort,
    dataDir,
    get server() {
      return server;
    },
    async kill() {
      const killed = server;
      server = undefined;
      killed?.child.kill('SIGKILL');
      await killed?.exited;
    },
    async start() {
      server = await startServerProcess({ dataDir, env, isDetached });
    },
  };
}
