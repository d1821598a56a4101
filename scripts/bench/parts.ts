import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, HelperProcess, makeStream, publish, withServer } from './bench-context.ts';
import { pinToCore } from './machine.ts';
import { processTree, usageOf } from './process-usage.ts';
import { judge } from './report.ts';
import type { RequestOrder, RequestReport } from './request-process.ts';
import { fetchPlaylist, waitUntilPlayable } from './viewer.ts';

const name = 'parts';
const wantedBytes = 64 * 1024;
const connections = 64;
/** The target is for one core: the server has the first one, the generator another. */
const serverCore = 0;
const generatorCore = 1;

/** Parts of about 64 KiB per second from a server on one core to a load generator on another. */
export const benchParts: Bench = context =>
  withServer(context, {}, async server => {
    const isPinned = pinToCore(server.child.pid!, serverCore);
    const stream = await makeStream(server);
    const publisher = publish(context, server, [stream]);
    const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
    await sleep(6000);
    const part = await findPart(mediaUrl);
    const order: RequestOrder = {
      port: server.httpPort,
      path: new URL(part.uri, mediaUrl).pathname,
      connections,
      seconds: context.isShort ? 4 : 10,
    };
    const countedBefore = await countAnswers(server.baseUrl);
    const before = usageOf(processTree(server.child.pid!).slice(0, 1));
    const startedMs = performance.now();
    const generator = new HelperProcess<RequestReport>('./request-process.ts', order);
    pinToCore(generator.child.pid!, generatorCore);
    const report = await generator.report();
    const after = usageOf(processTree(server.child.pid!).slice(0, 1));
    const counted = (await countAnswers(server.baseUrl)) - countedBefore;
    const load = (100 * (after.cpuSeconds - before.cpuSeconds)) / ((performance.now() - startedMs) / 1000);
    await publisher.stop();
    return [
      judge(name, {
        what: `answers of ${Math.round(part.bytes / 1024)} KiB a second, ${connections} connections${isPinned ? '' : ', server not pinned to a core'}`,
        value: report.requestsPerSecond,
        unit: '',
        min: 25_000,
      }),
      judge(name, { what: 'that is', value: report.bytesPerSecond / 1e6, unit: 'MB/s' }),
      judge(name, { what: 'processor of the server meanwhile', value: load, unit: '% of a core' }),
      judge(name, {
        what: 'answers that the server counted, of those that came',
        value: (100 * counted) / report.answers,
        unit: '%',
        min: 100,
      }),
      judge(name, { what: 'wrong answers', value: report.failures, unit: '', max: 0 }),
    ];
  });

/** The listed part that is nearest to the size wanted. Young ones only: it must not expire meanwhile. */
async function findPart(mediaUrl: string): Promise<{ uri: string; bytes: number }> {
  const playlist = await fetchPlaylist(mediaUrl);
  const parts = [...playlist.segments.slice(-1), playlist.openParts].flatMap(segment => segment?.parts ?? []);
  const sized = await Promise.all(
    parts.map(async ({ uri }) => {
      const answer = await fetch(new URL(uri, mediaUrl), { method: 'HEAD' });
      return { uri, bytes: Number(answer.headers.get('content-length')) };
    }),
  );
  const [nearest] = sized.sort((a, b) => Math.abs(a.bytes - wantedBytes) - Math.abs(b.bytes - wantedBytes));
  if (nearest === undefined) throw new Error('no part is listed');
  return nearest;
}

/** Media requests that the server counted, to check the load generator. */
async function countAnswers(baseUrl: string): Promise<number> {
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^millrace_media_requests_total\{kind="media",status="200"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
}
