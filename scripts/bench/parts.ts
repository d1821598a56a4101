import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Nginx, nginxMissing, startNginx } from '../../test/support/nginx.ts';
import {
  type Bench,
  type BenchContext,
  HelperProcess,
  makeStream,
  publish,
  withServer,
} from './bench-context.ts';
import { pinToCore } from './machine.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge, percentile, type Row, skipped } from './report.ts';
import type { RequestOrder, RequestReport } from './request-process.ts';
import { fetchPlaylist, waitUntilPlayable } from './viewer.ts';

const name = 'parts';
const wantedBytes = 64 * 1024;
const connections = 64;
/** The target is for one core: the servers have the first one, the generator another. */
const serverCore = 0;
const generatorCore = 1;
/** Files in the page cache, sent by the kernel without copies. */
const nginxFiles = (root: string) => `root ${root}; location / { tcp_nodelay on; open_file_cache max=100; }`;

interface Part {
  readonly path: string;
  readonly body: Buffer;
}

interface Round {
  readonly report: RequestReport;
  /** Processor time of the server, in microseconds. */
  readonly microsecondsPerAnswer: number;
  /** Percent of a core. */
  readonly serverLoad: number;
  readonly generatorLoad: number;
}

/** Parts of about 64 KiB per second from a server on one core to a load generator on another, in turn with nginx. */
export const benchParts: Bench = context =>
  withServer(context, {}, async server => {
    const isPinned = pinToCore(server.child.pid!, serverCore);
    const stream = await makeStream(server);
    const publisher = publish(context, server, [stream]);
    const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
    await sleep(6000);
    const missing = nginxMissing();
    const files = await mkdtemp(join(context.folder, 'nginx-'));
    const nginx = missing === undefined ? await startPinnedNginx(files) : undefined;
    const ours: Round[] = [];
    const theirs: Round[] = [];
    let counted = 0;
    let bytes = 0;
    try {
      for (let round = 0; round < (context.isShort ? 2 : 5); round += 1) {
        // A new one each time: parts expire.
        const part = await findPart(mediaUrl);
        bytes = part.body.length;
        const countedBefore = await countAnswers(server.baseUrl);
        ours.push(await measure(context, [server.child.pid!], server.httpPort, part.path));
        counted += (await countAnswers(server.baseUrl)) - countedBefore;
        if (nginx === undefined) continue;
        const path = `/part-${round}.m4s`;
        await writeFile(join(files, 'html', path), part.body);
        theirs.push(await measure(context, processTree(nginx.pid), nginx.httpPort, path));
      }
    } finally {
      await nginx?.stop();
      await rm(files, { recursive: true, force: true });
    }
    await publisher.stop();
    const what = `${Math.round(bytes / 1024)} KiB, ${connections} connections${isPinned ? '' : ', servers not pinned to a core'}`;
    const answers = ours.reduce((sum, { report }) => sum + report.answers, 0);
    const failures = ours.reduce((sum, { report }) => sum + report.failures, 0);
    const megabytes = median(ours.map(({ report }) => report.bytesPerSecond)) / 1e6;
    return [
      row(`answers a second of ${what}`, speedOf(ours), '', { min: 25_000 }),
      row('that is', megabytes, 'MB/s'),
      ...costRows('Millrace', ours),
      ...(nginx === undefined
        ? [skipped(name, 'the same from nginx with sendfile', missing!)]
        : compare(ours, theirs)),
      row('answers that the server counted, of those that came', (100 * counted) / answers, '%', {
        min: 100,
      }),
      row('wrong answers', failures, '', { max: 0 }),
    ];
  });

function compare(ours: readonly Round[], theirs: readonly Round[]): Row[] {
  return [
    row('nginx with sendfile: answers a second', speedOf(theirs), ''),
    ...costRows('nginx', theirs),
    row('answers a second by those of nginx', speedOf(ours) / speedOf(theirs), '×', { min: 1 }),
    row('answers per processor time by those of nginx', costOf(theirs) / costOf(ours), '×', { min: 1 }),
  ];
}

/** A server that had less than its core was waiting for the generator: its cost then tells more than its speed. */
function costRows(server: string, rounds: readonly Round[]): Row[] {
  const load = median(rounds.map(({ serverLoad }) => serverLoad));
  const generatorLoad = median(rounds.map(({ generatorLoad: percent }) => percent));
  return [
    row(`${server}: processor for one answer`, costOf(rounds), 'µs'),
    row(`${server}: processor meanwhile`, load, '% of a core'),
    row(`${server}: processor of the load generator meanwhile`, generatorLoad, '% of a core'),
  ];
}

function row(what: string, value: number, unit: string, limit: { min?: number; max?: number } = {}): Row {
  return judge(name, { what, value, unit, ...limit });
}

function speedOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ report }) => report.requestsPerSecond));
}

function costOf(rounds: readonly Round[]): number {
  return median(rounds.map(({ microsecondsPerAnswer }) => microsecondsPerAnswer));
}

function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

async function startPinnedNginx(folder: string): Promise<Nginx> {
  const root = join(folder, 'html');
  await mkdir(root);
  const nginx = await startNginx({ folder, http: nginxFiles(root) });
  for (const pid of processTree(nginx.pid)) pinToCore(pid, serverCore);
  return nginx;
}

async function measure(
  context: BenchContext,
  pids: readonly number[],
  port: number,
  path: string,
): Promise<Round> {
  const order: RequestOrder = { port, path, connections, seconds: context.isShort ? 3 : 5 };
  const before = usageOf(pids).cpuSeconds;
  const startedMs = performance.now();
  const generator = new HelperProcess<RequestReport>('./request-process.ts', order);
  pinToCore(generator.child.pid!, generatorCore);
  const report = await generator.report();
  const cpuSeconds = usageOf(pids).cpuSeconds - before;
  return {
    report,
    microsecondsPerAnswer: (1e6 * cpuSeconds) / report.answers,
    serverLoad: (100 * cpuSeconds) / ((performance.now() - startedMs) / 1000),
    generatorLoad: report.processorPercent,
  };
}

/** The listed part that is nearest to the size wanted. Young ones only: it must not expire meanwhile. */
async function findPart(mediaUrl: string): Promise<Part> {
  const playlist = await fetchPlaylist(mediaUrl);
  const parts = [...playlist.segments.slice(-1), playlist.openParts].flatMap(segment => segment?.parts ?? []);
  const fetched = await Promise.all(
    parts.map(async ({ uri }) => {
      const url = new URL(uri, mediaUrl);
      const answer = await fetch(url);
      return { path: url.pathname, body: Buffer.from(await answer.arrayBuffer()) };
    }),
  );
  const distance = ({ body }: Part) => Math.abs(body.length - wantedBytes);
  const [nearest] = fetched.sort((a, b) => distance(a) - distance(b));
  if (nearest === undefined) throw new Error('no part is listed');
  return nearest;
}

/** Media requests that the server counted, to check the load generator. */
async function countAnswers(baseUrl: string): Promise<number> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^millrace_media_requests_total\{kind="media",status="200"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}
