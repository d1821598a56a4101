import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findPostgres } from '../../test/support/postgres.ts';
import { s3Missing } from '../../test/support/s3.ts';
import { untilPlayable, uploadAnywhere } from '../cluster/cluster-load.ts';
import { type Cluster, startCluster } from '../cluster/cluster-processes.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import { basicAuthorization, createVideo } from '../server-process.ts';
import type { ApiLoad, ApiLoadOrder, ApiLoadReport } from './api-load-process.ts';
import { type Bench, type BenchContext, HelperProcess } from './bench-context.ts';
import { judge, type Row, skipped } from './report.ts';

const name = 'cluster';
const maxNodes = 4;
const connectionsPerNode = 16;
const videosPerNode = 4;
const noLimits = {
  MILLRACE_RATE_LIMIT_READS: '0',
  MILLRACE_RATE_LIMIT_WRITES: '0',
  MILLRACE_RATE_LIMIT_UPLOADS: '0',
  // One encode on each node at a time, so that their number is what counts.
  MILLRACE_ENCODE_JOBS: '1',
};

/** Requests a second and encodes an hour of one to four nodes. On one machine they share its cores. */
export const benchCluster: Bench = async context => {
  const reason = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
  if (reason !== undefined) return [skipped(name, 'nodes with PostgreSQL and S3', reason)];
  const path = join(context.folder, 'encoded.mp4');
  // MPEG-4 Part 2, which must be encoded.
  const input = ['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30', '-t', '10'];
  await runFfmpeg(
    context.ffmpeg.path,
    [...input, '-c:v', 'mpeg4', '-b:v', '2M', path],
    AbortSignal.timeout(60_000),
  );
  const rows: Row[] = [];
  for (let count = 1; count <= maxNodes; count += 1) rows.push(...(await measureNodes(context, count, path)));
  return rows;
};

async function measureNodes(context: BenchContext, count: number, path: string): Promise<Row[]> {
  const folder = await mkdtemp(join(context.folder, 'cluster-'));
  const cluster = await startCluster({ folder, nodes: Array.from({ length: count }, () => noLimits) });
  try {
    const label = `${count} ${count === 1 ? 'node' : 'nodes'}`;
    const seconds = context.isShort ? 3 : 10;
    const video = await createVideo(cluster.nodes[0]!.baseUrl, cluster.productionKey, { title: 'One' });
    const read: LoadOfAll = { method: 'GET', paths: [`/videos/${video.videoId}`], status: 200 };
    const write: LoadOfAll = {
      method: 'POST',
      paths: ['/videos'],
      status: 201,
      bodies: [JSON.stringify({ title: 'Another' })],
    };
    const rows: Row[] = [];
    for (const [what, load] of [
      ['GET /videos/{videoId}', read],
      ['POST /videos', write],
    ] as const) {
      const reports = await Promise.all(cluster.nodes.map(node => run(cluster, node.baseUrl, load, seconds)));
      const sum = reports.reduce((total, [result]) => total + result!.requestsPerSecond, 0);
      const failures = reports.reduce((total, [result]) => total + result!.failures, 0);
      rows.push(
        judge(name, { what: `${label}: ${what}, requests a second`, value: Math.round(sum), unit: '' }),
        judge(name, { what: `${label}: ${what}, wrong answers`, value: failures, unit: '', max: 0 }),
      );
    }
    const perHour = await encodesPerHour(cluster, path);
    rows.push(
      judge(name, {
        what: `${label}: encodes of 10 s of 360p an hour`,
        value: Math.round(perHour),
        unit: '',
      }),
    );
    return rows;
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

type LoadOfAll = Pick<ApiLoad, 'method' | 'paths' | 'status' | 'bodies'>;

async function run(
  cluster: Cluster,
  baseUrl: string,
  load: LoadOfAll,
  seconds: number,
): Promise<ApiLoadReport> {
  const authorization = basicAuthorization(cluster.productionKey);
  const order: ApiLoadOrder = {
    port: Number(new URL(baseUrl).port),
    seconds,
    loads: [{ name, connections: connectionsPerNode, authorization, ...load }],
  };
  const generator = new HelperProcess<ApiLoadReport>('./api-load-process.ts', order);
  try {
    return await generator.report();
  } finally {
    await generator.stop();
  }
}

async function encodesPerHour(cluster: Cluster, path: string): Promise<number> {
  const { signal } = new AbortController();
  const count = videosPerNode * cluster.nodes.length;
  const startedAtMs = performance.now();
  const videoIds = await Promise.all(
    Array.from({ length: count }, (_, first) =>
      uploadAnywhere(cluster, path, `Encode ${first}`, signal, first),
    ),
  );
  await Promise.all(videoIds.map(videoId => untilPlayable(cluster, videoId, signal)));
  return (count * 3_600_000) / (performance.now() - startedAtMs);
}
