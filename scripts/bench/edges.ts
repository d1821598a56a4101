import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Edge, type EdgeProgram, nginxEdge, varnishEdge } from '../../test/support/edges.ts';
import {
  type Bench,
  type BenchContext,
  HelperProcess,
  makeStream,
  publish,
  withServer,
} from './bench-context.ts';
import { treeCpuSeconds } from './process-usage.ts';
import { judge, percentile, type Row, skipped } from './report.ts';
import { followParts, type PartArrival, waitUntilPlayable } from './viewer.ts';
import type { ViewersOrder, ViewersReport } from './viewers-process.ts';

const viewersOfEdge = 500;
const edgesOfServer = 2;

/** Requests of a thousand viewers that reach the server through two caches, and how late their parts are. */
export const benchEdges: Bench = async context => [
  ...(await benchProgram(context, nginxEdge)),
  ...(await benchProgram(context, varnishEdge)),
];

async function benchProgram(context: BenchContext, program: EdgeProgram): Promise<Row[]> {
  const name = `1,000 viewers, two edges with ${program.name}`;
  if (program.missing !== undefined) return [skipped(name, 'all', program.missing)];
  return await withServer(context, {}, async server => {
    const edges: Edge[] = [];
    try {
      while (edges.length < edgesOfServer) {
        const folder = join(context.folder, `${program.name}-${edges.length}`);
        edges.push(await program.start(folder, server.httpPort));
      }
      const stream = await makeStream(server);
      const publisher = publish(context, server, [stream], { tellFrames: true });
      const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
      // One viewer without an edge looks into the parts, so that the last frame of each is known.
      const parts: PartArrival[] = [];
      const end = new AbortController();
      const following = followParts(mediaUrl, part => parts.push(part), end.signal);
      const path = new URL(mediaUrl).pathname;
      const crowds = edges.map(({ port }) => {
        const order: ViewersOrder = { port, path, viewers: viewersOfEdge };
        return new HelperProcess<ViewersReport>('./viewers-process.ts', order);
      });
      await sleep(8000);
      const pids = [[server.child.pid!], edges.map(({ pid }) => pid)];
      const before = { atMs: Date.now(), cpu: cpuOf(pids), requests: await countRequests(server.baseUrl) };
      await sleep(context.isShort ? 10_000 : 30_000);
      const requests = await countRequests(server.baseUrl);
      const after = { atMs: Date.now(), cpu: cpuOf(pids) };
      const reports: ViewersReport[] = [];
      for (const crowd of crowds) {
        crowd.child.send('stop');
        reports.push(await crowd.report());
      }
      end.abort();
      await following;
      await publisher.stop();

      const sentMs = publisher.reports.filter(report => report.kind === 'frame').map(report => report.atMs);
      const lastFrames = new Map(parts.map(part => [part.number, part.lastFrame]));
      const lagsMs = reports
        .flatMap(({ arrivals }) => arrivals)
        .filter(([number, atMs]) => atMs >= before.atMs && atMs < after.atMs && lastFrames.has(number))
        .map(([number, atMs]) => atMs - sentMs[lastFrames.get(number)!]!);
      const failures = reports.flatMap(report => report.failures);
      if (failures.length > 0) console.error(failures.slice(0, 3).join('\n'));
      const made = parts.filter(({ atMs }) => atMs >= before.atMs && atMs < after.atMs).length;
      const perPart = (count: number) => count / made / edgesOfServer;
      const [serverLoad = 0, edgeLoad = 0] = after.cpu.map(
        (cpu, index) => (100_000 * (cpu - before.cpu[index]!)) / (after.atMs - before.atMs),
      );
      const row = (what: string, value: number, unit: string, max?: number) =>
        judge(name, { what, value, unit, max });
      return [
        // The viewer without an edge asked for each of them, too.
        row(
          `requests to the server for media, of each part and edge (${made} parts)`,
          perPart(requests.media - before.requests.media - made),
          '',
          1.3,
        ),
        row(
          'requests to the server for playlists, of each part and edge',
          perPart(requests.playlist - before.requests.playlist),
          '',
          1.3,
        ),
        row(
          `parts that each viewer received, of ${made}`,
          lagsMs.length / (viewersOfEdge * edgesOfServer),
          '',
        ),
        row('last frame sent to part received, p50', percentile(lagsMs, 0.5), 'ms'),
        row('last frame sent to part received, p99', percentile(lagsMs, 0.99), 'ms'),
        row('processor of the server and its children', serverLoad, '% of a core'),
        row('processor of both edges', edgeLoad, '% of a core'),
        row('viewers that failed', failures.length, '', 0),
      ];
    } finally {
      for (const edge of edges) await edge.stop();
    }
  });
}

function cpuOf(groups: readonly (readonly number[])[]): number[] {
  return groups.map(pids => pids.reduce((sum, pid) => sum + treeCpuSeconds(pid), 0));
}

async function countRequests(baseUrl: string): Promise<{ media: number; playlist: number }> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  const count = (kind: string) => {
    const lines = metrics.matchAll(
      new RegExp(`^millrace_media_requests_total\\{kind="${kind}",status="\\d+"\\} (\\d+)`, 'gm'),
    );
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return { media: count('media'), playlist: count('playlist') };
}
