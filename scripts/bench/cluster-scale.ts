import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findPostgres, type PostgresServer } from '../../test/support/postgres.ts';
import { s3Missing } from '../../test/support/s3.ts';
import { startCluster } from '../cluster/cluster-processes.ts';
import { createLiveStream } from '../server-process.ts';
import { type Bench, HelperProcess, publishTo } from './bench-context.ts';
import { endedChildrenCpuSeconds, processTree, treeCpuSeconds } from './process-usage.ts';
import { makeRecording } from './recording.ts';
import { judge, type Row, skipped } from './report.ts';
import type { ReportsOrder, ReportsReport } from './reports-process.ts';

const name = 'cluster-scale';
const nodes = 100;
const streams = 10_000;
const viewers = 1_000_000;
const changesPerSecond = 3;
const maxCores = 2;
const mebibyte = 1024 * 1024;
const port = 5432;

/** The settings of a PostgreSQL server that must keep its data. */
const postgresSettings = [
  ...['fsync=on', 'full_page_writes=on', 'autovacuum=on', 'wal_level=replica', 'max_wal_size=4GB'],
  'shared_buffers=512MB',
];

/** Bitrate of a stream: PostgreSQL does not see it, and this machine receives all streams of one server. */
const videoKilobits = 200;

/** Work of PostgreSQL since it was started, and the bytes that it exchanged with the real server. */
interface Sample {
  /** For the real server, with what PostgreSQL does in the background. */
  readonly cpuSeconds: number;
  /** Connections that listen, and broadcasts that move, on the others. */
  readonly othersCpuSeconds: number;
  readonly bytes: number;
  readonly walBytes: number;
  readonly transactions: number;
  readonly atMs: number;
}

/** Costs a second. */
interface Cost {
  readonly cores: number;
  readonly othersCores: number;
  readonly bytes: number;
  readonly walBytes: number;
  readonly transactions: number;
}

/**
 * The load of PostgreSQL with 100 servers, 10,000 live streams and 1,000,000 viewers. One server is real, with its share of the streams and
 * of the viewers. The others are rows, broadcasts that move, and connections that listen. What the real server costs is multiplied by the
 * number of servers.
 */
export const benchClusterScale: Bench = async context => {
  const reason = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
  if (reason !== undefined) return [skipped(name, 'one node as one of a hundred', reason)];
  const folder = await mkdtemp(join(context.folder, 'scale-'));
  const proxy = new CountingProxy(join(folder, 'socket'));
  const cluster = await startCluster({
    folder,
    postgresSettings,
    databaseUrl: url => proxy.start(url),
    nodes: [
      {
        MILLRACE_ANALYTICS_REPORTS: '0',
        // Encodes of the recordings would take the processor from PostgreSQL.
        MILLRACE_NODE_ROLES: 'api,ingest,delivery',
        MILLRACE_HTTP_TRUSTED_PROXIES: '127.0.0.1',
        MILLRACE_RATE_LIMIT_WRITES: '0',
      },
    ],
  });
  const others = new OtherServers(proxy.realUrl);
  try {
    const [node] = cluster.nodes;
    const { baseUrl, server } = node!;
    const own = [];
    for (let index = 0; index < streams / nodes; index += 1)
      own.push(await createLiveStream(baseUrl, cluster.productionKey, 'Bench', { record: true }));
    await others.start(own[0]!.liveStreamId);
    const measure = async (seconds: number): Promise<Cost> => {
      const before = await sample(others, cluster.postgres, proxy);
      await sleep(seconds * 1_000);
      return costBetween(before, await sample(others, cluster.postgres, proxy));
    };
    const seconds = context.isShort ? 30 : 120;
    await sleep(20_000);
    const idle = await measure(seconds);
    const recordingPath = join(folder, 'recording.flv');
    await makeRecording(context.ffmpeg.path, recordingPath, videoKilobits, { size: '320x180' });
    const published = publishTo(
      { ...context, recordingPath },
      node!.rtmpPort,
      own.map(stream => stream.streamKey),
      { staggerMs: 50 },
    );
    await published.report(report => report.kind === 'all-started');
    // Waits until each recording has been measured twice: soon after its begin, and while it grows.
    await sleep(40_000);
    const publishing = await measure(seconds);
    await published.stop();
    const order: ReportsOrder = {
      port: Number(new URL(baseUrl).port),
      viewers: viewers / nodes,
      rampSeconds: 40,
      visitSeconds: 1_200,
      mediaPrefix: 'liScale',
      media: streams,
      popular: 100,
    };
    const reporting = new HelperProcess<ReportsReport>('./reports-process.ts', order);
    // Waits until each viewer has been written twice: rows are made, and then changed.
    await sleep(160_000);
    const nodeBefore = treeCpuSeconds(server!.child.pid!);
    const sentBefore = reporting.reports.at(-1)!;
    const reportSeconds = context.isShort ? 62 : 186;
    const watching = await measure(reportSeconds);
    const sent = reporting.reports.at(-1)!;
    const nodeCpu = treeCpuSeconds(server!.child.pid!) - nodeBefore;
    await reporting.stop();
    const ofNodes = times(idle, nodes);
    const ofStreams = times(minus(publishing, idle), nodes);
    const ofViewers = times(minus(watching, idle), nodes);
    const ofOthers = { ...nothing, cores: idle.othersCores };
    if (sent.failures > 0) console.error(JSON.stringify(sent), server!.lines.slice(-20).join('\n'));
    return [
      ...rowsOf(`${nodes} nodes that know ${streams} streams, from 1 node`, plus(ofNodes, ofOthers)),
      ...rowsOf(`${streams} recorded streams, from ${streams / nodes} at 1 node`, ofStreams),
      ...rowsOf(`${viewers} viewers, from ${viewers / nodes} at 1 node`, ofViewers),
      ...rowsOf('all of these', plus(plus(ofNodes, ofOthers), plus(ofStreams, ofViewers)), maxCores),
      row('reports a second at one node', (sent.sent - sentBefore.sent) / reportSeconds, ''),
      row('processor of one node with these viewers', (100 * nodeCpu) / reportSeconds, '% of a core'),
      judge(name, {
        what: [
          'reports without the answer 202',
          ...Object.entries(sent.failuresBy).map(by => by.join(': ')),
        ].join(', '),
        value: sent.failures,
        unit: '',
        max: 0,
      }),
    ];
  } finally {
    await others.stop();
    await cluster.stop();
    proxy.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

/** The servers that are only rows, connections that listen, and broadcasts that move from one to another. */
class OtherServers {
  readonly #listeners: pg.Client[] = [];
  readonly #end = new AbortController();
  readonly #pids: number[] = [];
  readonly #url: string;
  readonly database: pg.Pool;
  #changing: Promise<void> = Promise.resolve();
  #changes = 0;

  constructor(url: string) {
    this.#url = url;
    this.database = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
  }

  async start(liveStreamId: string): Promise<void> {
    await addOthers(this.database, liveStreamId);
    this.#pids.push(await pidOf(this.database));
    for (let index = 1; index < nodes; index += 1) {
      const listener = new pg.Client({ connectionString: this.#url });
      listener.on('error', () => {});
      await listener.connect();
      await listener.query('LISTEN millrace');
      this.#pids.push(await pidOf(listener));
      this.#listeners.push(listener);
    }
    await this.database.query('VACUUM ANALYZE');
    this.#changing = this.#changeBroadcasts();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#changing;
    await Promise.all(this.#listeners.map(listener => listener.end()));
    await this.database.end();
  }

  /** Processes of PostgreSQL that serve them. */
  get pids(): readonly number[] {
    return this.#pids;
  }

  get transactions(): number {
    return 2 * this.#changes;
  }

  /** Moves broadcasts from one server to another, and tells all of it. */
  async #changeBroadcasts(): Promise<void> {
    const { signal } = this.#end;
    for (; !signal.aborted; this.#changes += 1) {
      const stream = 1 + ((this.#changes * 7_919) % streams);
      await this.database.query(
        `UPDATE broadcasts SET node_id = 'peer' || (1 + (claim + ${stream}) % ${nodes - 1}), claim = claim + 1 WHERE id = 'brScale${stream}'`,
      );
      await this.database.query(`SELECT pg_notify('millrace', 'benchpeer live liScale${stream}')`);
      await sleep(1_000 / changesPerSecond, undefined, { signal }).catch(() => {});
    }
  }
}

async function pidOf(client: pg.Client | pg.Pool): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}

/** Adds the other servers, and a live stream with a broadcast for each of the streams. */
async function addOthers(database: pg.Pool, liveStreamId: string): Promise<void> {
  const copy = async (
    table: string,
    id: string,
    changes: Readonly<Record<string, string>>,
    count: number,
    where: string,
  ) => {
    const { rows } = await database.query<{ name: string }>(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1',
      [table],
    );
    const names = rows.map(row => row.name);
    const values = names.map(column => changes[column] ?? (column === 'id' ? id : `t.${column}`));
    await database.query(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table} t, generate_series(1, ${count}) n WHERE ${where}`,
    );
  };
  const nodeId = "'peer' || n";
  await copy(
    'nodes',
    nodeId,
    {
      run_id: nodeId,
      lease_until_ms: 't.lease_until_ms + 86400000',
      url: "'http://peer' || n",
      media_url: "'http://peer' || n",
    },
    nodes - 1,
    'true',
  );
  const streamId = "'liScale' || n";
  await copy('live_streams', streamId, { stream_key: "'scale' || n" }, streams, `t.id = '${liveStreamId}'`);
  await database.query(
    `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, protocol, remote_address, encoder, node_id, claim,
       first_sequence, claimed_at_ms, target_duration_seconds, multivariant, report)
     SELECT 'brScale' || n, t.project_id, 'liScale' || n, 'live', t.created_at_ms, 'rtmp', '192.0.2.1', 'OBS', 'peer' || (1 + n % ${nodes - 1}), 1,
       1, t.created_at_ms, 4, repeat('x', 600), '{}'
     FROM live_streams t, generate_series(1, ${streams}) n WHERE t.id = '${liveStreamId}'`,
  );
  await database.query('ANALYZE');
}

/** Listens to a socket like PostgreSQL's, and counts what goes through. */
class CountingProxy {
  readonly #folder: string;
  #server: Server | undefined;
  bytes = 0;
  realUrl = '';

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @returns the URL of the database through this proxy */
  async start(url: string): Promise<string> {
    this.realUrl = url;
    const real = new URL(url).searchParams.get('host')!;
    await mkdir(this.#folder, { recursive: true });
    this.#server = createServer(from => {
      const to = connect(join(real, `.s.PGSQL.${port}`));
      for (const [socket, other] of [
        [from, to],
        [to, from],
      ] as const) {
        socket.on('data', data => {
          this.bytes += data.length;
        });
        socket.on('error', () => other.destroy());
        socket.pipe(other);
      }
    });
    await new Promise<void>(resolve => this.#server!.listen(join(this.#folder, `.s.PGSQL.${port}`), resolve));
    const through = new URL(url);
    through.searchParams.set('host', this.#folder);
    return through.href;
  }

  stop(): void {
    this.#server?.close();
  }
}

async function sample(others: OtherServers, postgres: PostgresServer, proxy: CountingProxy): Promise<Sample> {
  const { rows } = await others.database.query<{ wal: string; transactions: string }>(
    `SELECT pg_current_wal_lsn() - '0/0' AS wal, xact_commit AS transactions FROM pg_stat_database WHERE datname = current_database()`,
  );
  const pids = processTree(postgres.pid).filter(pid => !others.pids.includes(pid));
  return {
    cpuSeconds: pids.reduce((sum, pid) => sum + scheduledSeconds(pid), endedChildrenCpuSeconds(postgres.pid)),
    othersCpuSeconds: others.pids.reduce((sum, pid) => sum + scheduledSeconds(pid), 0),
    bytes: proxy.bytes,
    walBytes: Number(rows[0]!.wal),
    transactions: Number(rows[0]!.transactions) - others.transactions,
    atMs: performance.now(),
  };
}

/** Processor time of a process with one thread. Ticks of 10 ms are too coarse for a hundred connections. */
function scheduledSeconds(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
  } catch {
    return 0;
  }
}

function costBetween(before: Sample, after: Sample): Cost {
  const seconds = (after.atMs - before.atMs) / 1_000;
  return {
    cores: (after.cpuSeconds - before.cpuSeconds) / seconds,
    othersCores: (after.othersCpuSeconds - before.othersCpuSeconds) / seconds,
    bytes: (after.bytes - before.bytes) / seconds,
    walBytes: (after.walBytes - before.walBytes) / seconds,
    transactions: (after.transactions - before.transactions) / seconds,
  };
}

const nothing: Cost = { cores: 0, othersCores: 0, bytes: 0, walBytes: 0, transactions: 0 };

function combine(a: Cost, b: Cost, how: (a: number, b: number) => number): Cost {
  return {
    cores: how(a.cores, b.cores),
    othersCores: 0,
    bytes: how(a.bytes, b.bytes),
    walBytes: how(a.walBytes, b.walBytes),
    transactions: how(a.transactions, b.transactions),
  };
}

function minus(a: Cost, b: Cost): Cost {
  return combine(a, b, (one, other) => Math.max(0, one - other));
}

function plus(a: Cost, b: Cost): Cost {
  return combine(a, b, (one, other) => one + other);
}

function times(cost: Cost, factor: number): Cost {
  return combine(cost, cost, one => one * factor);
}

function rowsOf(what: string, { cores, bytes, walBytes, transactions }: Cost, max?: number): Row[] {
  return [
    judge(name, { what: `PostgreSQL with ${what}`, value: cores, unit: 'cores', max }),
    row(`... transactions a second`, transactions, ''),
    row(`... to and from servers`, bytes / mebibyte, 'MiB/s'),
    row(`... write-ahead log`, walBytes / mebibyte, 'MiB/s'),
  ];
}

function row(what: string, value: number, unit: string): Row {
  return judge(name, { what, value, unit });
}
